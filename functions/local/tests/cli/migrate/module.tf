variable "x" {}
resource "terraform_data" "i" {
  for_each = { "k.1" = 1 }
  input = var.x
}
data "terraform_remote_state" "r" {
  backend = "local"
  config = { path = "o.tfstate" }
  defaults = {}
}
output "o" { value = "z" }
