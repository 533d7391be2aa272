//! `plumb login` and `plumb logout`

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::prompt;
use crate::session::Session;
use crate::stored_token::StoredToken;
use providers::services::{Credentials, DiscoveryError, HostName, Services, Token};
use serde_json::Value;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The host that is meant where none is named.
const USUAL_HOST: &str = "app.terraform.io";
/// The service of Terraform Enterprise and HCP Terraform.
const ENTERPRISE: &str = "tfe.v2";
/// Services that take tokens too, which nothing can verify.
const OTHERS: [&str; 3] = ["login.v1", "providers.v1", "modules.v1"];
/// How long the host may take to say whose token it is.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of what it says.
const LIMIT: u64 = 1 << 20;

pub(super) async fn log_in(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, login).await
}

pub(super) async fn log_out(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, logout).await
}

fn host(flags: &Flags) -> Result<&str, UsageError> {
    flags.at_most(1, "At most one argument is expected: the host, as in registry.example.com.")?;
    Ok(flags.positional.first().map_or(USUAL_HOST, String::as_str))
}

async fn login(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let name = host(flags)?;
    if !session.environment.input() {
        let detail = "It asks for a token, and TF_INPUT says that nobody is asked. Set the token in an environment variable (TF_TOKEN_registry_example_com) or a credentials block of the CLI configuration.";
        return Err(Failure::error("Login is an interactive command", detail));
    }
    let stored = StoredToken::find(session, name, "login")?;
    let host = stored.host();
    let enterprise = takes_tokens(&*session.services()?, host).await?;
    session.reporter.report(stored.objections(session));
    let page = match &enterprise {
        Some(service) => format!(
            "Make one there, if you have none:\n    https://{}/app/settings/tokens?source=terraform-login\n",
            HostName::of(service).unwrap_or_else(|| host.clone())
        ),
        None => "Make one where the host has its settings, if you have none.\n".to_owned(),
    };
    session.reporter.print(&format!(
        "plumb keeps an API token for {host} in\n    {stored}\nfor all commands that follow. {page}\n"
    ));
    let consent = prompt::ask(
        &session.stop,
        "Do you want to proceed?".to_owned(),
        "Only 'yes' will be accepted to confirm.".to_owned(),
    );
    if consent.await.map_err(|error| unanswered(&error))? != "yes" {
        return Err(Failure::error("Login cancelled", "Nothing was stored."));
    }
    let title = format!("Token for {host}:");
    let token = prompt::ask_secret(&session.stop, title).await;
    let token = token.map_err(|error| unanswered(&error))?;
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let detail = "A token is one word of printable ASCII characters. Nothing was stored.";
        return Err(Failure::error("Invalid token", detail));
    }
    let token = Token::new(token);
    let owner = match enterprise {
        Some(service) => Some(tokio::select! {
            owner = owner(session, host, &service, &token) => owner?,
            // Since the token was asked for, an interrupt ends nothing by itself.
            _ = tokio::signal::ctrl_c() => {
                return Err(unanswered(&io::ErrorKind::Interrupted.into()));
            }
        }),
        None => None,
    };
    stored.store(&token).await?;
    let whose = owner.map(|owner| format!(" of the user {owner}")).unwrap_or_default();
    session.reporter.print(&format!("The token{whose} for {host} is stored in {stored}.\n"));
    Ok(0)
}

async fn logout(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let stored = StoredToken::find(session, host(flags)?, "logout")?;
    let host = stored.host();
    if !stored.exists {
        session.reporter.print(&format!("No credentials for {host} are stored.\n"));
        return Ok(0);
    }
    stored.forget().await?;
    session.reporter.print(&format!(
        "The token for {host} is no longer in {stored}. The host still accepts it until it is revoked there.\n"
    ));
    Ok(0)
}

/// Makes sure that a host has services that take tokens; where it has the one that can verify them.
async fn takes_tokens(services: &Services, host: &HostName) -> Result<Option<Url>, Failure> {
    for service in [ENTERPRISE].into_iter().chain(OTHERS) {
        match services.url(host, service).await {
            Ok(url) => return Ok((service == ENTERPRISE).then_some(url)),
            // What its sign-in with a browser is like does not matter here.
            Err(DiscoveryError::Unusable { .. }) if service == "login.v1" => return Ok(None),
            Err(DiscoveryError::NotOffered { .. } | DiscoveryError::OtherVersion { .. }) => {}
            Err(error) => {
                return Err(Failure::of(format!("Service discovery failed for {host}"), &error));
            }
        }
    }
    let detail = format!(
        "The host {host} offers no service that takes a token: neither registries nor HCP Terraform. Nothing was stored."
    );
    Err(Failure::error("Host takes no tokens", detail))
}

/// Whose token it is, as the host says.
async fn owner(
    session: &Session,
    host: &HostName,
    service: &Url,
    token: &Token,
) -> Result<String, Failure> {
    let failed = |why: String| {
        let detail =
            format!("The host {host} does not say whose it is: {why}. Nothing was stored.");
        Failure::error("Token is invalid", detail)
    };
    let url = service.join("account/details").map_err(|error| failed(error.to_string()))?;
    let mut credentials = Credentials::default();
    credentials.insert(host.clone(), token.clone());
    let services = Services::new(Arc::new(session.https(PATIENCE)), credentials);
    let answer = services.get(&url, Some(host), LIMIT).await;
    let answer = answer.map_err(|error| failed(error.to_string()))?;
    if !answer.status.is_success() {
        return Err(failed(format!("it answers {}", answer.status)));
    }
    let details: Value = serde_json::from_slice(&answer.body)
        .map_err(|error| failed(format!("its answer cannot be understood: {error}")))?;
    let name = details["data"]["attributes"]["username"].as_str();
    // What is printed must not steer the terminal.
    let name = name.filter(|name| !name.chars().any(char::is_control));
    name.map(str::to_owned).ok_or_else(|| failed("its answer names no user".to_owned()))
}

fn unanswered(error: &io::Error) -> Failure {
    let detail = format!("No answer came: {error}. Nothing was stored.");
    Failure::error("Error asking for the token", detail)
}
