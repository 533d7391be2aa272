module "queue" {
  source   = "./modules/queue"
  for_each = var.queues

  name           = "${var.stage}-${each.key}"
  fifo           = each.value.fifo
  retention_days = each.value.retention_days
  max_receives   = each.value.max_receives

  providers = {
    aws      = aws
    aws.copy = aws.west
  }
}

resource "aws_sns_topic" "events" {
  name = "${var.stage}-events"
}

resource "aws_sns_topic_subscription" "events" {
  for_each = { for name, queue in var.queues : name => module.queue[name] if !queue.fifo }

  topic_arn            = aws_sns_topic.events.arn
  protocol             = "sqs"
  endpoint             = each.value.arn
  raw_message_delivery = true
}

resource "aws_sns_topic" "alarms" {
  provider = aws.west

  name = "${var.stage}-alarms"

  lifecycle {
    # The on-call tool renames it.
    ignore_changes = [display_name, tags["Pager"]]
  }
}

resource "aws_cloudwatch_log_group" "worker" {
  name              = "/${var.stage}/worker"
  retention_in_days = 7
}

resource "aws_ssm_parameter" "database_password" {
  name        = "/${var.stage}/database/password"
  description = "Read by the workers at start"
  type        = "SecureString"
  value       = var.database_password

  lifecycle {
    precondition {
      condition     = length(var.database_password) >= 12
      error_message = "The database password needs twelve characters."
    }
  }
}

resource "aws_ssm_parameter" "connection" {
  name = "/${var.stage}/database/connection"
  type = "String"
  value = jsonencode({
    user     = "worker"
    password = var.database_password
    network  = data.aws_vpc.main.cidr_block
  })
}
