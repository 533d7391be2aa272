variable "v" {
  validation {
    condition     = var.v != ""
    error_message = "It is empty."
  }
}

resource "terraform_data" "inner" {
  input = var.v
  lifecycle {
    postcondition {
      condition     = self.output != ""
      error_message = "Never said."
    }
  }
}

output "o" {
  value = terraform_data.inner.output
  precondition {
    condition     = var.v != ""
    error_message = "Never said."
  }
}

check "inner" {
  assert {
    condition     = var.v == "k1"
    error_message = "It is ${var.v}."
  }
}
