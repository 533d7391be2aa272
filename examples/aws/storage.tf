resource "aws_s3_bucket" "logs" {
  bucket        = "${var.stage}-plumbline-logs"
  acl           = "log-delivery-write"
  force_destroy = true

  lifecycle_rule {
    id      = "expire"
    enabled = true

    expiration {
      days = var.expire_logs_after_days
    }
  }
}

resource "aws_s3_bucket" "documents" {
  bucket        = "${var.stage}-plumbline-documents"
  acl           = "private"
  force_destroy = true

  versioning {
    enabled = true
  }

  logging {
    target_bucket = aws_s3_bucket.logs.id
    target_prefix = "documents/"
  }

  lifecycle_rule {
    id      = "archive"
    prefix  = "archive/"
    enabled = true

    transition {
      days          = 30
      storage_class = "STANDARD_IA"
    }

    transition {
      days          = 90
      storage_class = "GLACIER"
    }

    noncurrent_version_expiration {
      days = 180
    }
  }

  server_side_encryption_configuration {
    rule {
      apply_server_side_encryption_by_default {
        sse_algorithm = "AES256"
      }
    }
  }

  dynamic "cors_rule" {
    for_each = ["https://example.com", "https://example.org"]

    content {
      allowed_methods = ["GET", "HEAD"]
      allowed_origins = [cors_rule.value]
      max_age_seconds = 600 * (cors_rule.key + 1)
    }
  }

  tags = {
    Stage = var.stage
  }
}

resource "aws_s3_bucket_public_access_block" "documents" {
  bucket = aws_s3_bucket.documents.id

  block_public_acls   = true
  block_public_policy = true
}

resource "aws_s3_bucket_object" "document" {
  for_each = var.documents

  bucket       = aws_s3_bucket.documents.id
  key          = each.key
  content      = each.value
  content_type = endswith(each.key, ".json") ? "application/json" : "text/plain"
}

resource "aws_dynamodb_table" "orders" {
  name             = "${var.stage}-orders"
  billing_mode     = "PAY_PER_REQUEST"
  hash_key         = var.table_hash_key
  range_key        = "created"
  stream_enabled   = true
  stream_view_type = "NEW_AND_OLD_IMAGES"

  dynamic "attribute" {
    for_each = setunion([var.table_hash_key, "created"], values(var.table_indexes))

    content {
      name = attribute.value
      type = attribute.value == "created" ? "N" : "S"
    }
  }

  dynamic "global_secondary_index" {
    for_each = var.table_indexes

    content {
      name               = global_secondary_index.key
      hash_key           = global_secondary_index.value
      projection_type    = "INCLUDE"
      non_key_attributes = ["total"]
    }
  }

  ttl {
    attribute_name = "expires"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = true
  }

  timeouts {
    create = "5m"
    delete = "3m"
  }

  tags = {
    Stage = var.stage
  }
}
