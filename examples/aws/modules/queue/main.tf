terraform {
  required_providers {
    aws = {
      source                = "hashicorp/aws"
      configuration_aliases = [aws.copy]
    }
  }
}

variable "name" {
  type = string
}

variable "fifo" {
  type = bool
}

variable "retention_days" {
  type = number
}

variable "max_receives" {
  type = number
}

locals {
  suffix = var.fifo ? ".fifo" : ""
}

resource "aws_sqs_queue" "dead" {
  name                      = "${var.name}-dead${local.suffix}"
  fifo_queue                = var.fifo
  message_retention_seconds = 14 * 24 * 60 * 60
}

resource "aws_sqs_queue" "this" {
  name                        = "${var.name}${local.suffix}"
  fifo_queue                  = var.fifo
  content_based_deduplication = var.fifo ? true : null
  message_retention_seconds   = var.retention_days * 24 * 60 * 60

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = var.max_receives
  })

  lifecycle {
    # The first is tuned by hand when a worker is slow; the second comes back in another layout than it was written in.

    ignore_changes = [visibility_timeout_seconds, redrive_policy]
  }
}

resource "aws_sqs_queue" "copy" {
  count    = var.fifo ? 0 : 1
  provider = aws.copy

  name = "${var.name}-copy"
}

output "arn" {
  value = aws_sqs_queue.this.arn
}

output "url" {
  value = aws_sqs_queue.this.id
}
