variable "s" {
  default   = "x"
  sensitive = true
}
resource "terraform_data" "a" {
  count = 2
  input = { k = var.s, n = 1.5 }
}
module "m" {
  source   = "./m"
  for_each = toset(["a b", "c"])
  x        = terraform_data.a[0].id
}
resource "terraform_data" "cbd" {
  input = module.m["c"].o
  lifecycle { create_before_destroy = true }
}
output "o" { value = [terraform_data.a[0].id, 1, true] }
output "s" {
  value = var.s
  sensitive = true
}
check "c" {
  assert {
    condition = terraform_data.cbd.id != ""
    error_message = "x"
  }
}
