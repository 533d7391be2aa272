data "aws_caller_identity" "current" {}

data "aws_region" "current" {}

data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["lambda.amazonaws.com", "ec2.amazonaws.com"]
    }
  }
}

# Read while applying: it needs what the queues' creation makes known.
data "aws_iam_policy_document" "worker" {
  dynamic "statement" {
    for_each = module.queue

    content {
      sid       = title(statement.key)
      actions   = ["sqs:ReceiveMessage", "sqs:DeleteMessage"]
      resources = [statement.value.arn]

      condition {
        test     = "StringEquals"
        variable = "aws:RequestedRegion"
        values   = [data.aws_region.current.name]
      }
    }
  }

  statement {
    sid       = "Documents"
    actions   = ["s3:GetObject"]
    resources = ["${aws_s3_bucket.documents.arn}/*"]
  }
}

resource "aws_iam_role" "worker" {
  name                 = "${var.stage}-worker"
  path                 = "/plumbline/"
  assume_role_policy   = data.aws_iam_policy_document.assume.json
  max_session_duration = 7200

  inline_policy {
    name = "read-table"
    policy = jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Effect   = "Allow"
        Action   = ["dynamodb:GetItem", "dynamodb:Query"]
        Resource = [aws_dynamodb_table.orders.arn, "${aws_dynamodb_table.orders.arn}/index/*"]
      }]
    })
  }

  tags = {
    Account = data.aws_caller_identity.current.account_id
  }
}

resource "aws_iam_policy" "worker" {
  name_prefix = "${var.stage}-worker-"
  description = "What a worker may do"
  policy      = data.aws_iam_policy_document.worker.json
}

resource "aws_iam_role_policy_attachment" "worker" {
  role       = aws_iam_role.worker.name
  policy_arn = aws_iam_policy.worker.arn
}

resource "aws_iam_instance_profile" "worker" {
  name = "${var.stage}-worker"
  role = aws_iam_role.worker.name
}
