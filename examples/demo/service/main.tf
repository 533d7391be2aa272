terraform {
  required_providers {
    test = { source = "plumbline/test" }
  }
}

variable "release" {
  type = string
}

variable "subnets" {
  type = map(string)
}

variable "database" {
  type = string
}

resource "terraform_data" "release" {
  input            = { version = var.release, database = var.database }
  triggers_replace = var.database
}

resource "test_thing" "instance" {
  count = length(var.subnets)
  name  = format("instance-%02d", count.index)
  size  = 2
  tags = {
    release = terraform_data.release.output.version
    subnet  = values(var.subnets)[count.index]
  }
}

resource "test_thing" "load_balancer" {
  name = "load-balancer"
  tags = { targets = join(",", test_thing.instance[*].id) }

  lifecycle {
    create_before_destroy = true
  }
}

output "endpoint" {
  value = "https://${test_thing.load_balancer.id}.example.test/${var.release}"
}
