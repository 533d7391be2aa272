# Against the defaults: in-place updates, instances that a shrunken count or map deletes, instances that a grown map creates.
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
