locals {
  endpoint = "http://127.0.0.1:${var.endpoint_port}"
}

provider "aws" {
  region                      = "us-east-1"
  access_key                  = "stand-in"
  secret_key                  = "stand-in"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  skip_get_ec2_platforms      = true
  s3_force_path_style         = true

  default_tags {
    tags = {
      Owner = "platform"
    }
  }

  endpoints {
    cloudwatchlogs = local.endpoint
    dynamodb       = local.endpoint
    ec2            = local.endpoint
    iam            = local.endpoint
    s3             = local.endpoint
    sns            = local.endpoint
    sqs            = local.endpoint
    ssm            = local.endpoint
    sts            = local.endpoint
  }
}

provider "aws" {
  alias                       = "west"
  region                      = "us-west-2"
  access_key                  = "stand-in"
  secret_key                  = "stand-in"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  skip_get_ec2_platforms      = true
  s3_force_path_style         = true

  endpoints {
    s3  = local.endpoint
    sns = local.endpoint
    sqs = local.endpoint
    sts = local.endpoint
  }
}
