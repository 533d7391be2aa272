variable "v" {
  default = "a"
  validation {
    condition     = length(var.v) > 0
    error_message = "It is empty."
  }
  validation {
    condition     = var.v != "never"
    error_message = "It is never."
  }
}

variable "n" {
  default = 2
}

variable "ok" {
  default = true
}

# Fails after apply: while planning, its output is not known.
resource "terraform_data" "counted" {
  count = var.n
  input = var.v
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "It is not ok."
    }
    postcondition {
      condition     = self.output != "late"
      error_message = "It came late."
    }
  }
}

resource "terraform_data" "keyed" {
  for_each = toset(["b", "a\"q"])
  input    = each.key
  lifecycle {
    precondition {
      condition     = each.key != ""
      error_message = "No key."
    }
  }
}

resource "terraform_data" "none" {
  count = 0
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "Never said."
    }
  }
}

resource "terraform_data" "plain" {
  input = 1
}

# Does not change, and what it promises depends on what does.
resource "terraform_data" "staying" {
  input = "same"
  lifecycle {
    precondition {
      condition     = try(terraform_data.counted[0].output, "") != "x"
      error_message = "It is x."
    }
  }
}

data "terraform_remote_state" "other" {
  backend = "local"
  config = {
    path = "${path.module}/other.tfstate"
  }
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "It is not ok."
    }
    postcondition {
      condition     = self.backend == "local"
      error_message = "It is not local."
    }
  }
}

output "checked" {
  value = 1
  precondition {
    condition     = terraform_data.plain.output == 1
    error_message = "It is not one."
  }
}

output "v" {
  value = var.v
}

check "several" {
  assert {
    condition     = terraform_data.plain.output == 1
    error_message = "Never said."
  }
  assert {
    condition     = terraform_data.plain.id == "1"
    error_message = "Second."
  }
  assert {
    condition     = var.v == "q"
    error_message = "First."
  }
}

module "child" {
  source   = "./child"
  for_each = toset(["k1", "k2"])
  v        = each.key
}

module "absent" {
  source = "./child"
  count  = 0
  v      = "absent"
}
