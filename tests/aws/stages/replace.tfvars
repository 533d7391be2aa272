# Against update.tfvars: a table and a security group that cannot be updated in place, the latter created before it is destroyed.
subnet_count           = 2
expire_logs_after_days = 60
public_ports           = [443, 8443]
database_password      = "another twelve characters"

queues = {
  orders   = { retention_days = 10 }
  invoices = { fifo = true, max_receives = 3 }
  returns  = {}
}

documents = {
  "readme.txt"  = "Hello again.\n"
  "notices.txt" = "New.\n"
}

table_indexes = {
  by-customer = "customer"
  by-region   = "region"
  by-status   = "status"
}

table_hash_key      = "number"
public_port_purpose = "What customers may reach"
