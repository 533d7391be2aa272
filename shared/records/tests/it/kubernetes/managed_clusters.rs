//! Managed clusters, from the bytes that their providers document.

use std::sync::Arc;

use async_trait::async_trait;
use records::contract::{Access, Finding, Outcome, Setting, StoreContract};
use records::kubernetes::{
    BearerToken, ClusterContract, ExecPlugin, ManagedCluster, ManagedClusterAddress,
    ProviderAnswer, ProviderApi, ProviderFailure, ProviderHttps,
};

use super::store;
use super::strict::StrictServer;

/// A provider that answers one address.
pub(super) struct Documented {
    pub(super) url: &'static str,
    pub(super) status: u16,
    pub(super) body: String,
}

#[async_trait]
impl ProviderApi for Documented {
    async fn get(
        &self,
        address: &ManagedClusterAddress,
    ) -> Result<ProviderAnswer, ProviderFailure> {
        assert_eq!(address.url, self.url);
        Ok(ProviderAnswer { status: self.status, body: self.body.clone().into_bytes() })
    }
}

pub(super) struct Unreachable;

#[async_trait]
impl ProviderApi for Unreachable {
    async fn get(&self, _: &ManagedClusterAddress) -> Result<ProviderAnswer, ProviderFailure> {
        Err(ProviderFailure("the network is down".to_owned()))
    }
}

pub(super) const EKS_URL: &str = "https://eks.us-west-2.amazonaws.com/clusters/devel";
const GKE_URL: &str =
    "https://container.googleapis.com/v1/projects/acme/locations/europe-west1/clusters/prod";
const AKS_URL: &str = "https://management.azure.com/subscriptions/s-1/resourceGroups/rg1/providers/\
    Microsoft.ContainerService/managedClusters/clustername1?api-version=2024-09-01";

/// As the reference of DescribeCluster shows it.
pub(super) const EKS: &str = r#"{"cluster":{"name":"devel","arn":"arn:aws:eks:us-west-2:012345678910:cluster/devel",
"createdAt":1527807879.988,"version":"VERSION","endpoint":"ENDPOINT","roleArn":"arn:aws:iam::012345678910:role/eks",
"resourcesVpcConfig":{"subnetIds":["subnet-6782e71e"],"vpcId":"vpc-950809ec"},"status":"ACTIVE",
"certificateAuthority":{"data":"EXAMPLECA="},"platformVersion":"eks.3","tags":{}ENCRYPTION}}"#;
pub(super) const EKS_KEY: &str = r#","encryptionConfig":[{"resources":["secrets"],"provider":{"keyArn":
"arn:aws:kms:us-west-2:012345678910:key/1f2e"}}]"#;

/// As the reference of projects.locations.clusters shows it.
const GKE: &str = r#"{"name":"prod","endpoint":"ENDPOINT","currentMasterVersion":"1.33.5-gke.1",
"privateClusterConfig":{"privateEndpoint":"10.0.0.2","publicEndpoint":"34.1.2.3"},
"controlPlaneEndpointsConfig":{"dnsEndpointConfig":{"endpoint":"gke-1.europe-west1.gke.goog"}},
"databaseEncryption":{"state":"STATE","keyName":"projects/acme/locations/europe-west1/keyRings/r/cryptoKeys/k"}}"#;

/// As the reference of Managed Clusters - Get shows it.
const AKS: &str = r#"{"id":"/subscriptions/s-1/resourcegroups/rg1/providers/Microsoft.ContainerService/managedClusters/clustername1",
"location":"location1","name":"clustername1","properties":{"provisioningState":"Succeeded",
"kubernetesVersion":"1.30.0","fqdn":"ENDPOINT","privateFQDN":"clustername1-abc.privatelink.azmk8s.io",
"securityProfile":{"azureKeyVaultKms":{"enabled":ENABLED,"keyId":"https://v.vault.azure.net/keys/k/1"}}}}"#;

async fn finding(
    server: &StrictServer,
    cluster: &str,
    provider: impl ProviderApi + 'static,
) -> Finding {
    let contract = ClusterContract::new(Arc::new(store(&server.cluster().await)))
        .managed_as(cluster.parse().unwrap())
        .asking(Arc::new(provider));
    let findings = contract.check(Access::Write).await;
    findings.into_iter().find(|it| it.setting == Setting::EncryptionAtRest).unwrap()
}

fn answer(
    url: &'static str,
    server: &StrictServer,
    body: &str,
    rest: [(&str, &str); 2],
) -> Documented {
    let mut body = body.replace("ENDPOINT", &format!("{}", server.address));
    for (from, to) in rest {
        body = body.replace(from, to);
    }
    Documented { url, status: 200, body }
}

#[tokio::test]
async fn eks_encrypts_with_a_key_or_from_1_28_on() {
    let server = StrictServer::start().await;
    let cases = [
        ("1.27", EKS_KEY, Outcome::Passed, "1f2e"),
        ("1.28", "", Outcome::Passed, "AWS owns"),
        ("1.35", r#","encryptionConfig":[]"#, Outcome::Passed, "AWS owns"),
        ("1.27", "", Outcome::Warned, "only the disks"),
    ];
    for (version, encryption, outcome, told) in cases {
        let provider =
            answer(EKS_URL, &server, EKS, [("VERSION", version), ("ENCRYPTION", encryption)]);
        let found = finding(&server, "eks:us-west-2/devel", provider).await;
        assert_eq!(found.outcome, outcome, "{}", found.found);
        assert!(found.found.contains(told), "{}", found.found);
    }
}

#[tokio::test]
async fn gke_and_aks_encrypt_where_they_are_told_to() {
    let server = StrictServer::start().await;
    for (state, outcome) in [("ENCRYPTED", Outcome::Passed), ("DECRYPTED", Outcome::Warned)] {
        let provider = answer(GKE_URL, &server, GKE, [("STATE", state), ("", "")]);
        let found = finding(&server, "gke:acme/europe-west1/prod", provider).await;
        assert_eq!(found.outcome, outcome, "{}", found.found);
    }
    for (enabled, outcome) in [("true", Outcome::Passed), ("false", Outcome::Warned)] {
        let provider = answer(AKS_URL, &server, AKS, [("ENABLED", enabled), ("", "")]);
        let found = finding(&server, "aks:s-1/rg1/clustername1", provider).await;
        assert_eq!(found.outcome, outcome, "{}", found.found);
    }
}

#[tokio::test]
async fn a_cluster_that_is_another_or_none_is_a_mistake_in_the_configuration() {
    let server = StrictServer::start().await;
    let other = EKS.replace("ENDPOINT", "https://A0DC.yl4.us-west-2.eks.amazonaws.com");
    let other = other.replace("ENCRYPTION", EKS_KEY).replace("VERSION", "1.30");
    let provider = Documented { url: EKS_URL, status: 200, body: other };
    let found = finding(&server, "eks:us-west-2/devel", provider).await;
    assert_eq!((found.outcome, found.waivable), (Outcome::Failed, false));
    assert!(found.found.contains("is not the cluster eks:us-west-2/devel"), "{}", found.found);
    let body = r#"{"message":"No cluster found for name: devel."}"#.to_owned();
    let provider = Documented { url: EKS_URL, status: 404, body };
    let found = finding(&server, "eks:us-west-2/devel", provider).await;
    assert_eq!((found.outcome, found.waivable), (Outcome::Failed, false));
}

#[tokio::test]
async fn a_provider_that_does_not_tell_is_not_checked() {
    let server = StrictServer::start().await;
    let cases = [
        (403, r#"{"message":"User: x is not authorized to perform: eks:DescribeCluster"}"#),
        (500, "{}"),
        (200, "<html>"),
        (200, r#"{"cluster":[]}"#),
    ];
    for (status, body) in cases {
        let provider = Documented { url: EKS_URL, status, body: body.to_owned() };
        let found = finding(&server, "eks:us-west-2/devel", provider).await;
        assert_eq!(found.outcome, Outcome::NotChecked, "{}", found.found);
        assert!(found.found.contains("aws eks describe-cluster --region us-west-2 --name devel"));
    }
    let found = finding(&server, "eks:us-west-2/devel", Unreachable).await;
    assert_eq!(found.outcome, Outcome::NotChecked, "{}", found.found);
    let contract = ClusterContract::new(Arc::new(store(&server.cluster().await)))
        .managed_as("gke:acme/europe-west1/prod".parse().unwrap());
    let found = &contract.check(Access::Write).await[3];
    assert_eq!(found.outcome, Outcome::NotChecked, "{}", found.found);
    assert!(found.found.contains("gcloud container clusters describe prod"), "{}", found.found);
}

#[test]
fn names_of_managed_clusters_read_back() {
    for text in ["eks:eu-west-1/prod", "gke:acme/europe-west1-b/prod", "aks:0f-1/rg_(x)/prod"] {
        assert_eq!(text.parse::<ManagedCluster>().unwrap().to_string(), text);
    }
    for text in ["prod", "eks:prod", "eks:a/b/c", "eks:a/../b", "gke:a/b", "aks:a/b/c?d", "eks:/x"]
    {
        assert!(text.parse::<ManagedCluster>().is_err(), "{text}");
    }
}

#[test]
fn a_credential_command_tells_which_cluster_it_is() {
    let infer = |command: &str, arguments: &[&str], variables: &[(&str, &str)]| {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        ManagedCluster::infer(&ExecPlugin {
            command: command.to_owned(),
            arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
            variables: variables.iter().map(owned).collect(),
        })
        .map(|cluster| cluster.to_string())
    };
    let eks = Some("eks:eu-west-1/prod".to_owned());
    let aws =
        ["--region", "eu-west-1", "eks", "get-token", "--cluster-name", "prod", "--output", "json"];
    assert_eq!(infer("aws", &aws, &[]), eks);
    assert_eq!(infer("/usr/bin/aws", &aws, &[]), eks);
    let with_equals = ["eks", "get-token", "--cluster-name=prod", "--region=eu-west-1"];
    assert_eq!(infer("aws.exe", &with_equals, &[]), eks);
    let iam = ["token", "-i", "prod"];
    assert_eq!(infer("aws-iam-authenticator", &iam, &[("AWS_REGION", "eu-west-1")]), eks);
    assert_eq!(infer("aws-iam-authenticator", &iam, &[]), None);
    assert_eq!(infer("gke-gcloud-auth-plugin", &[], &[]), None);
    assert_eq!(infer("kubelogin", &["get-token", "--server-id", "6dae42f8"], &[]), None);
}

/// What the kubeconfig's command suggests is believed only where an endpoint matches, and never refuses.
#[tokio::test]
async fn an_inferred_cluster_is_believed_where_its_endpoint_matches() {
    let server = StrictServer::start().await;
    let path = server.kubeconfig();
    let token = r#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"secret-token"}}"#;
    let script = path.with_file_name("aws");
    std::fs::write(&script, format!("#!/bin/sh\necho '{token}'\n")).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let exec = format!(
        "exec:\n      apiVersion: client.authentication.k8s.io/v1\n      interactiveMode: Never\n      command: {}\n      \
         args: [--region, us-west-2, eks, get-token, --cluster-name, devel]",
        script.display()
    );
    let content = std::fs::read_to_string(&path).unwrap().replace("token: secret-token", &exec);
    std::fs::write(&path, content).unwrap();
    let access = records::kubernetes::ClusterAccess::Kubeconfig { path, context: None };
    let cluster = records::kubernetes::Cluster::connect(&access).await.unwrap();
    let here = server.address.to_string();
    let elsewhere = "https://A0DC.yl4.us-west-2.eks.amazonaws.com";
    for (endpoint, outcome) in [(here.as_str(), Outcome::Passed), (elsewhere, Outcome::NotChecked)]
    {
        let body = EKS.replace("ENDPOINT", endpoint).replace("ENCRYPTION", EKS_KEY);
        let provider = Documented { url: EKS_URL, status: 200, body };
        let contract = ClusterContract::new(Arc::new(store(&cluster))).asking(Arc::new(provider));
        let found = &contract.check(Access::Write).await[3];
        assert_eq!(found.outcome, outcome, "{}", found.found);
    }
}

#[tokio::test]
async fn a_provider_is_asked_over_http_with_its_credentials() {
    let server = StrictServer::start().await;
    let ask = async |token: &str, path: &str, region: Option<&str>| {
        let credentials = Arc::new(BearerToken::new(token.to_owned()));
        let provider = ProviderHttps::new(credentials, std::time::Duration::from_secs(5));
        let url = format!("http://{}{path}", server.address);
        let signing_region = region.map(str::to_owned);
        provider.get(&ManagedClusterAddress { url, signing_region }).await
    };
    let known = ask("secret-token", "/api/v1/namespaces/team?api-version=1", None).await.unwrap();
    assert_eq!(known.status, 200);
    assert!(String::from_utf8(known.body).unwrap().contains("Namespace"));
    assert_eq!(server.world.queries(), ["api-version=1"]);
    assert_eq!(server.world.take_log(), ["GET /api/v1/namespaces/team"]);
    let unknown = ask("secret-token", "/clusters/devel", None).await.unwrap();
    assert_eq!(unknown.status, 404);
    assert_eq!(ask("other", "/clusters/devel", None).await.unwrap().status, 401);
    assert!(ask("secret-token", "/clusters/devel", Some("us-west-2")).await.is_err());
}

#[cfg(feature = "s3")]
#[tokio::test]
async fn eks_is_asked_with_awss_signature() {
    use aws_config::{BehaviorVersion, Region};
    use aws_credential_types::Credentials;
    use records::kubernetes::{AwsCredentials, ProviderCredentials};

    let keys = Credentials::new("AKIDEXAMPLE", "secret", Some("session".to_owned()), None, "test");
    let sdk = aws_config::defaults(BehaviorVersion::latest())
        .region(Region::new("eu-west-1"))
        .credentials_provider(keys)
        .load()
        .await;
    let credentials = AwsCredentials::new(sdk);
    let cluster: ManagedCluster = "eks:us-west-2/devel".parse().unwrap();
    let headers = credentials.headers(&cluster.address()).await.unwrap();
    let header = |name: &str| {
        let found = headers.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    };
    let signature = header("authorization");
    assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"), "{signature}");
    // The cluster's region, not the configuration's.
    assert!(signature.contains("/us-west-2/eks/aws4_request"), "{signature}");
    assert!(
        signature.contains("SignedHeaders=host;x-amz-date;x-amz-security-token"),
        "{signature}"
    );
    assert_eq!(header("x-amz-security-token"), "session");
    assert!(!headers.iter().any(|(name, value)| name == "host" || value.contains("secret")));
    let gke: ManagedCluster = "gke:acme/europe-west1/prod".parse().unwrap();
    assert!(credentials.headers(&gke.address()).await.is_err());
}
