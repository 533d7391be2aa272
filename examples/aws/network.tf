data "aws_availability_zones" "available" {
  state = "available"
}

resource "aws_vpc" "main" {
  cidr_block           = "10.20.0.0/16"
  enable_dns_hostnames = true

  tags = {
    Name  = "${var.stage}-main"
    Stage = var.stage
  }
}

resource "aws_subnet" "private" {
  count = var.subnet_count

  vpc_id            = aws_vpc.main.id
  cidr_block        = cidrsubnet(aws_vpc.main.cidr_block, 8, count.index)
  availability_zone = element(data.aws_availability_zones.available.names, count.index)

  tags = {
    Name = format("%s-private-%02d", var.stage, count.index)
  }
}

resource "aws_internet_gateway" "main" {
  vpc_id = aws_vpc.main.id
}

resource "aws_route_table" "private" {
  vpc_id = aws_vpc.main.id

  route {
    cidr_block = "0.0.0.0/0"
    gateway_id = aws_internet_gateway.main.id
  }
}

resource "aws_route_table_association" "private" {
  count = length(aws_subnet.private)

  subnet_id      = aws_subnet.private[count.index].id
  route_table_id = aws_route_table.private.id
}

resource "aws_security_group" "public" {
  name_prefix = "${var.stage}-public-"
  description = var.public_port_purpose
  vpc_id      = aws_vpc.main.id

  dynamic "ingress" {
    for_each = var.public_ports

    content {
      description = "port ${ingress.value}"
      from_port   = ingress.value
      to_port     = ingress.value
      protocol    = "tcp"
      cidr_blocks = ["0.0.0.0/0"]
    }
  }

  ingress {
    from_port = 9000
    to_port   = 9010
    protocol  = "udp"
    self      = true
  }

  egress {
    from_port        = 0
    to_port          = 0
    protocol         = "-1"
    cidr_blocks      = ["0.0.0.0/0"]
    ipv6_cidr_blocks = ["::/0"]
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_security_group" "internal" {
  name   = "${var.stage}-internal"
  vpc_id = aws_vpc.main.id

  # Attribute syntax: an explicit empty list says "no rules", which no block says "leave them alone".
  egress = []
}

resource "aws_security_group_rule" "internal_from_public" {
  type                     = "ingress"
  security_group_id        = aws_security_group.internal.id
  source_security_group_id = aws_security_group.public.id
  from_port                = 5432
  to_port                  = 5432
  protocol                 = "tcp"
}

data "aws_vpc" "main" {
  filter {
    name   = "vpc-id"
    values = [aws_vpc.main.id]
  }
}
