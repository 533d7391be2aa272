output "account" {
  value = data.aws_caller_identity.current.account_id
}

output "subnets" {
  value = { for subnet in aws_subnet.private : subnet.availability_zone => subnet.id... }
}

output "queues" {
  value = { for name, queue in module.queue : name => queue.arn }
}

output "public_ports" {
  description = "What the security group lets in, as the provider tells it."
  value       = [for rule in aws_security_group.public.ingress : rule.from_port if rule.protocol == "tcp"]
}

output "table" {
  value = {
    name    = aws_dynamodb_table.orders.name
    stream  = aws_dynamodb_table.orders.stream_enabled
    indexes = aws_dynamodb_table.orders.global_secondary_index[*].name
  }
}

output "connection" {
  value     = aws_ssm_parameter.connection.value
  sensitive = true
}
