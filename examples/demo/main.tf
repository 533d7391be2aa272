# Three modules over the test provider, whose world is a folder, and the builtin terraform_data.
terraform {
  required_providers {
    test = { source = "plumbline/test" }
  }
}

variable "world" {
  type        = string
  description = "The folder that the test provider keeps its objects in."
}

variable "zones" {
  type    = set(string)
  default = ["a", "b"]
}

variable "release" {
  type    = string
  default = "1.0"
}

variable "database_password" {
  type      = string
  sensitive = true
  default   = "correct horse battery staple"
}

provider "test" {
  world = var.world
}

module "network" {
  source = "./network"
  zones  = var.zones
}

module "storage" {
  source   = "./storage"
  network  = module.network.id
  password = var.database_password
}

module "service" {
  source   = "./service"
  release  = var.release
  subnets  = module.network.subnets
  database = module.storage.database
}

output "endpoint" {
  value = module.service.endpoint
}
