//! What may be lost by a change.

use engine::changes::Action;
use serde::{Deserialize, Serialize};

/// What may be lost by a change; the gravest last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Danger {
    /// Nothing.
    #[default]
    None,
    /// The object is left behind, and nobody looks after it any more.
    Forgets,
    /// The object is gone for a while, and another one is there afterwards.
    Replaces,
    /// The object is gone.
    Destroys,
    /// The object is gone, and with it the data that it holds.
    LosesData,
}

impl Danger {
    /// Of an action on an object; `holds` is whether it holds data. What is left over of an earlier replacement holds
    /// nothing that is not elsewhere.
    pub fn of(action: Action, holds: bool, deposed: bool) -> Danger {
        match action {
            Action::Delete | Action::DeleteThenCreate | Action::CreateThenDelete
                if holds && !deposed =>
            {
                Danger::LosesData
            }
            Action::Delete => Danger::Destroys,
            Action::DeleteThenCreate | Action::CreateThenDelete => Danger::Replaces,
            Action::Forget => Danger::Forgets,
            Action::NoOp | Action::Create | Action::Read | Action::Update => Danger::None,
        }
    }
}

/// Types of the large providers that hold data, by what they begin with. Longer beginnings stand before shorter ones.
const STATEFUL: &[(&str, &str)] = &[
    ("aws_backup_vault_", ""),
    ("aws_backup_vault", "backups"),
    ("aws_cloudwatch_log_group", "logs"),
    ("aws_cognito_user_pool_", ""),
    ("aws_cognito_user_pool", "users"),
    ("aws_db_cluster_snapshot", "database"),
    ("aws_db_instance", "database"),
    ("aws_db_snapshot", "database"),
    ("aws_docdb_cluster_parameter_group", ""),
    ("aws_docdb_cluster", "database"),
    ("aws_dynamodb_global_table", "database"),
    ("aws_dynamodb_table_item", ""),
    ("aws_dynamodb_table", "database"),
    ("aws_ebs_snapshot", "volume"),
    ("aws_ebs_volume", "volume"),
    ("aws_ecr_repository_", ""),
    ("aws_ecr_repository", "images"),
    ("aws_efs_file_system_", ""),
    ("aws_efs_file_system", "file system"),
    ("aws_elasticache_cluster", "database"),
    ("aws_elasticache_replication_group", "database"),
    ("aws_elasticsearch_domain_", ""),
    ("aws_elasticsearch_domain", "database"),
    ("aws_fsx_", "file system"),
    ("aws_keyspaces_", "database"),
    ("aws_kinesis_stream", "stream"),
    ("aws_kms_key", "key"),
    ("aws_memorydb_cluster", "database"),
    ("aws_msk_cluster", "stream"),
    ("aws_neptune_cluster_parameter_group", ""),
    ("aws_neptune_cluster", "database"),
    ("aws_opensearch_domain_", ""),
    ("aws_opensearch_domain", "database"),
    ("aws_rds_cluster_parameter_group", ""),
    ("aws_rds_cluster_role_association", ""),
    ("aws_rds_cluster_endpoint", ""),
    ("aws_rds_", "database"),
    ("aws_redshift_cluster", "database"),
    ("aws_route53_zone_", ""),
    ("aws_route53_zone", "DNS zone"),
    ("aws_s3_bucket_", ""),
    ("aws_s3_bucket", "bucket"),
    ("aws_s3_directory_bucket", "bucket"),
    ("aws_s3tables_", "bucket"),
    ("aws_secretsmanager_secret_", ""),
    ("aws_secretsmanager_secret", "secret"),
    ("aws_sqs_queue_", ""),
    ("aws_sqs_queue", "queue"),
    ("aws_timestreamwrite_", "database"),
    ("azurerm_cosmosdb_", "database"),
    ("azurerm_key_vault_", ""),
    ("azurerm_key_vault", "keys"),
    ("azurerm_kusto_", "database"),
    ("azurerm_log_analytics_workspace", "logs"),
    ("azurerm_managed_disk", "volume"),
    ("azurerm_mssql_database", "database"),
    ("azurerm_mssql_managed_", "database"),
    ("azurerm_mssql_server", "database"),
    ("azurerm_mysql_flexible_", "database"),
    ("azurerm_postgresql_", "database"),
    ("azurerm_redis_cache", "database"),
    ("azurerm_storage_account_", ""),
    ("azurerm_storage_account", "bucket"),
    ("azurerm_storage_container", "bucket"),
    ("azurerm_storage_share", "file system"),
    ("google_alloydb_", "database"),
    ("google_artifact_registry_repository", "images"),
    ("google_bigquery_dataset", "database"),
    ("google_bigquery_table", "database"),
    ("google_bigtable_", "database"),
    ("google_compute_disk", "volume"),
    ("google_compute_region_disk", "volume"),
    ("google_dns_managed_zone", "DNS zone"),
    ("google_filestore_", "file system"),
    ("google_firestore_database", "database"),
    ("google_kms_crypto_key", "key"),
    ("google_kms_key_ring", "key"),
    ("google_redis_", "database"),
    ("google_secret_manager_secret", "secret"),
    ("google_spanner_", "database"),
    ("google_sql_database", "database"),
    ("google_storage_bucket_", ""),
    ("google_storage_bucket", "bucket"),
    ("kubernetes_namespace", "namespace"),
    ("kubernetes_persistent_volume", "volume"),
    ("kubernetes_stateful_set", "volume"),
    ("mongodbatlas_cluster", "database"),
    ("mongodbatlas_advanced_cluster", "database"),
    ("cloudflare_r2_bucket", "bucket"),
    ("digitalocean_database_", "database"),
    ("digitalocean_spaces_bucket", "bucket"),
    ("digitalocean_volume", "volume"),
    ("hcloud_volume", "volume"),
    ("tls_private_key", "key"),
];
/// Words that say so in types of other providers.
const WORDS: &[(&str, &str)] =
    &[("database", "database"), ("bucket", "bucket"), ("volume", "volume")];
/// Words of settings of such objects, which hold nothing themselves.
const SETTINGS: &[&str] = &[
    "access",
    "administrator",
    "assessment",
    "association",
    "attachment",
    "auditing",
    "binding",
    "configuration",
    "consumer",
    "encryption",
    "endpoint",
    "grant",
    "iam",
    "member",
    "object",
    "parameter",
    "policy",
    "role",
    "rule",
    "token",
    "user",
];

/// What kind of data objects of a managed type hold, as far as their type tells: `database`, `bucket`, `volume`.
pub fn stateful(ty: &str) -> Option<&'static str> {
    let is_setting = |words: &str| words.split('_').any(|word| SETTINGS.contains(&word));
    let mut listed = STATEFUL.iter();
    let listed = listed.find_map(|(beginning, kind)| Some((ty.strip_prefix(beginning)?, *kind)));
    if let Some((rest, kind)) = listed {
        return (!kind.is_empty() && !is_setting(rest)).then_some(kind);
    }
    // The providers that are listed are listed whole.
    if ["aws_", "azurerm_", "google_"].iter().any(|known| ty.starts_with(known)) {
        return None;
    }
    // The first word is the provider's name.
    let (_, words) = ty.split_once('_')?;
    if is_setting(words) {
        return None;
    }
    let has = |word: &str| words.split('_').any(|part| part == word);
    WORDS.iter().find(|(word, _)| has(word)).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::{Danger, stateful};
    use engine::changes::Action;

    #[test]
    fn what_holds_data_is_told_from_its_settings() {
        assert_eq!(stateful("aws_s3_bucket"), Some("bucket"));
        assert_eq!(stateful("aws_s3_bucket_policy"), None);
        assert_eq!(stateful("aws_rds_cluster"), Some("database"));
        assert_eq!(stateful("aws_rds_cluster_parameter_group"), None);
        assert_eq!(stateful("aws_instance"), None);
        assert_eq!(stateful("acme_database"), Some("database"));
        assert_eq!(stateful("acme_database_user"), None);
        assert_eq!(stateful("database_thing"), None);
    }

    #[test]
    fn settings_of_listed_types_hold_nothing() {
        for setting in [
            "aws_db_instance_role_association",
            "aws_kinesis_stream_consumer",
            "aws_kms_key_policy",
            "aws_msk_cluster_policy",
            "aws_redshift_cluster_iam_roles",
            "azurerm_cosmosdb_sql_role_assignment",
            "azurerm_mssql_server_transparent_data_encryption",
            "azurerm_postgresql_flexible_server_configuration",
            "azurerm_postgresql_flexible_server_firewall_rule",
            "google_artifact_registry_repository_iam_member",
            "google_bigquery_dataset_access",
            "google_kms_crypto_key_iam_binding",
            "google_secret_manager_secret_iam_member",
        ] {
            assert_eq!(stateful(setting), None, "{setting}");
        }
        for (holder, kind) in [
            ("aws_docdb_cluster_snapshot", "database"),
            ("aws_elasticache_replication_group", "database"),
            ("azurerm_postgresql_flexible_server_database", "database"),
            ("google_secret_manager_secret_version", "secret"),
            ("google_spanner_instance", "database"),
            ("kubernetes_persistent_volume_claim_v1", "volume"),
        ] {
            assert_eq!(stateful(holder), Some(kind), "{holder}");
        }
    }

    #[test]
    fn losing_data_is_the_gravest() {
        assert_eq!(Danger::of(Action::DeleteThenCreate, true, false), Danger::LosesData);
        assert_eq!(Danger::of(Action::Delete, true, true), Danger::Destroys);
        assert_eq!(Danger::of(Action::Update, true, false), Danger::None);
        assert!(Danger::LosesData > Danger::Destroys && Danger::Destroys > Danger::Replaces);
    }
}
