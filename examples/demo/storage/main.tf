terraform {
  required_providers {
    test = { source = "plumbline/test" }
  }
}

variable "network" {
  type = string
}

variable "password" {
  type      = string
  sensitive = true
}

resource "test_thing" "database" {
  name   = "database"
  kind   = "postgres"
  size   = 100
  secret = var.password
  tags   = { network = var.network }
}

output "database" {
  value = test_thing.database.id
}
