variable "endpoint_port" {
  description = "Port on 127.0.0.1 where a stand-in for AWS listens (scripts/stand-ins starts one)."
  type        = number

  validation {
    condition     = var.endpoint_port > 0 && var.endpoint_port < 65536
    error_message = "The port must be between 1 and 65535."
  }
}

variable "stage" {
  description = "Goes into names and tags."
  type        = string
  default     = "demo"
}

variable "subnet_count" {
  type    = number
  default = 3
}

variable "queues" {
  description = "Work queues by name."
  type = map(object({
    retention_days = optional(number, 4)
    fifo           = optional(bool, false)
    max_receives   = optional(number, 5)
  }))
  default = {
    orders   = { retention_days = 7 }
    invoices = { fifo = true, max_receives = 3 }
    mail     = {}
  }
}

variable "public_ports" {
  type    = set(number)
  default = [80, 443]
}

variable "public_port_purpose" {
  type    = string
  default = "What the world may reach"
}

variable "table_indexes" {
  description = "Global secondary indexes of the table: name to hash key."
  type        = map(string)
  default = {
    by-customer = "customer"
    by-status   = "status"
  }
}

variable "table_hash_key" {
  type    = string
  default = "id"
}

variable "expire_logs_after_days" {
  type    = number
  default = 30
}

variable "database_password" {
  type      = string
  sensitive = true
  default   = "correct horse battery staple"
}

variable "documents" {
  type = map(string)
  default = {
    "readme.txt"  = "Hello.\n"
    "limits.json" = "{\"orders\": 10}\n"
  }
}
