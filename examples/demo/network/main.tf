terraform {
  required_providers {
    test = { source = "plumbline/test" }
  }
}

variable "zones" {
  type = set(string)
}

resource "test_thing" "network" {
  name = "network"
  size = 16
  tags = { team = "platform" }
}

resource "test_thing" "subnet" {
  for_each = var.zones
  name     = "subnet-${each.key}"
  zone     = each.key
  tags     = { network = test_thing.network.id }
}

output "id" {
  value = test_thing.network.id
}

output "subnets" {
  value = { for zone, subnet in test_thing.subnet : zone => subnet.id }
}
