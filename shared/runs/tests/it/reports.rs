//! Reports in words, and what hosts of repositories are asked.

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use providers::https::{Https, HttpsClient, HttpsError};
use runs::report::{
    CommitState, HostNotifier, Notifier, Report, SignedWebhook, comment, status_line,
};
use runs::repository_host::{GitHub, GitLab, HostKind, RepositoryHost};
use runs::run_reference::Mode;
use runs::run_state::{ChangeCounts, Commit, Status};
use runs::secrets::Secret;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn commit(repository: &str) -> Commit {
    Commit {
        repository: repository.into(),
        sha: "1a2b3c".into(),
        branch: "main".into(),
        pull_request: Some(7),
    }
}

fn report(status: Status, text: &str) -> Report {
    Report {
        run: "r1".into(),
        estate: "network".into(),
        mode: Mode::Plan,
        status,
        code: None,
        changes: Some(ChangeCounts { add: 1, change: 2, destroy: 3, import: 0 }),
        has_changes: true,
        plan_digest: Some("d1".into()),
        commit: Some(commit("github.com/acme/infra")),
        link: Some("https://api.example/runs/r1?estate=network".into()),
        text: text.into(),
        details: None,
    }
}

/// Answers as a host does, and notes what it was asked.
#[derive(Default)]
struct Host {
    asked: Mutex<Vec<(String, String, String)>>,
    comments: &'static str,
    /// What brought a commit.
    requests: &'static str,
}

#[async_trait]
impl Https for Host {
    async fn send(
        &self,
        request: Request<Bytes>,
        _limit: u64,
    ) -> Result<Response<Bytes>, HttpsError> {
        let (method, address) = (request.method().to_string(), request.uri().to_string());
        let body = String::from_utf8_lossy(request.body()).into_owned();
        let answer = match address.rsplit('/').next() {
            _ if method != "GET" || address.contains("archive") => "{}",
            _ if address.contains("tarball") => "{}",
            Some("pulls" | "merge_requests") => self.requests,
            _ => self.comments,
        };
        self.asked.lock().unwrap().push((method, address, body));
        Ok(Response::new(Bytes::from(answer)))
    }
}

impl Host {
    fn requests(&self) -> Vec<String> {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.into_iter().map(|(method, address, _)| format!("{method} {address}")).collect()
    }
}

#[test]
fn a_status_fits_and_says_what_changes() {
    let line = status_line(&report(Status::WaitingForApproval, ""));
    assert_eq!(line, "Waiting for approval: 1 to add, 2 to change, 3 to destroy");
    let failed = Report { code: Some("c".repeat(300)), ..report(Status::Failed, "") };
    assert_eq!(status_line(&failed).chars().count(), 140);
}

#[test]
fn a_comment_is_folded_cut_and_cannot_be_broken_out_of() {
    let text = comment(&report(Status::WaitingForApproval, "before\n````\n</details>\nafter"));
    assert!(text.starts_with("<!-- plumbline estate=network -->\n"), "{text}");
    assert!(text.contains("\n`````\nbefore"), "the fence is longer than what is in it: {text}");
    let long = comment(&report(Status::Told, &"x".repeat(200_000)));
    assert!(long.len() < 65_536 && long.contains("cut"), "{}", long.len());
    assert!(long.ends_with("</details>\n"));
    let hostile = Report { estate: "a --> b".into(), ..report(Status::Told, "") };
    assert_eq!(comment(&hostile).lines().next(), Some("<!-- plumbline estate=a - -> b -->"));
}

#[test]
fn ends_are_told_as_what_they_are() {
    assert_eq!(CommitState::of(Status::WaitingForApproval), CommitState::Pending);
    assert_eq!(CommitState::of(Status::Told), CommitState::Success);
    assert_eq!(CommitState::of(Status::Superseded), CommitState::Failure);
}

#[tokio::test]
async fn github_has_one_comment_that_is_kept_up_to_date() {
    let ours = r#"[{"id": 3, "body": "hello"}, {"id": 9, "body": "<!-- plumbline estate=network -->\nold"}]"#;
    for (comments, last) in [
        ("[]", "POST https://api.github.com/repos/acme/infra/issues/7/comments"),
        (ours, "PATCH https://api.github.com/repos/acme/infra/issues/comments/9"),
    ] {
        let host = Arc::new(Host { comments, ..Host::default() });
        let github =
            GitHub::new(host.clone(), "github.com/acme/infra", None, Some(Secret::new("t")));
        HostNotifier(Arc::new(github)).notify(&report(Status::Told, "text")).await.unwrap();
        let requests = host.requests();
        assert_eq!(requests[0], "POST https://api.github.com/repos/acme/infra/statuses/1a2b3c");
        assert_eq!(requests.last().map(String::as_str), Some(last));
        assert_eq!(requests.len(), 3);
    }
}

#[tokio::test]
async fn what_a_request_brought_to_its_branch_is_told_in_the_requests_comment() {
    let merged = r#"[{"number": 5, "merged_at": null, "base": {"ref": "main"}},
        {"number": 6, "merged_at": "2026-01-20T09:14:00Z", "base": {"ref": "next"}},
        {"number": 8, "merged_at": "2026-01-20T09:14:00Z", "base": {"ref": "main"}}]"#;
    let pushed = |mode: Mode, repository: &str| Report {
        mode,
        commit: Some(Commit { pull_request: None, ..commit(repository) }),
        ..report(Status::WaitingForApproval, "text")
    };
    let root = "https://api.github.com/repos/acme/infra";
    for (mode, requests, last) in [
        (Mode::Deploy, merged, format!("POST {root}/issues/8/comments")),
        (Mode::Apply, merged, format!("POST {root}/issues/8/comments")),
        (Mode::Deploy, "[]", format!("GET {root}/commits/1a2b3c/pulls")),
        (Mode::Plan, merged, format!("POST {root}/statuses/1a2b3c")),
    ] {
        let host = Arc::new(Host { comments: "[]", requests, ..Host::default() });
        let github = GitHub::new(host.clone(), "github.com/acme/infra", None, None);
        let told = pushed(mode, "github.com/acme/infra");
        HostNotifier(Arc::new(github)).notify(&told).await.unwrap();
        let text = host.asked.lock().unwrap().last().unwrap().2.clone();
        assert_eq!(host.requests().last(), Some(&last), "{mode} {requests}");
        let link = "(https://api.example/runs/r1?estate=network)";
        assert_eq!(text.contains(link), last.ends_with("comments"), "{text}");
    }
    let requests = r#"[{"iid": 3, "state": "opened", "target_branch": "main"},
        {"iid": 9, "state": "merged", "target_branch": "main"}]"#;
    let host = Arc::new(Host { comments: "[]", requests, ..Host::default() });
    let gitlab = GitLab::new(host.clone(), "gitlab.com/acme/infra", None, None);
    let told = pushed(Mode::Deploy, "gitlab.com/acme/infra");
    HostNotifier(Arc::new(gitlab)).notify(&told).await.unwrap();
    let root = "https://gitlab.com/api/v4/projects/acme%2Finfra";
    let asked = host.requests();
    assert_eq!(asked[1], format!("GET {root}/repository/commits/1a2b3c/merge_requests"));
    assert_eq!(asked.last(), Some(&format!("POST {root}/merge_requests/9/notes")));
}

#[tokio::test]
async fn gitlab_is_asked_in_its_own_words() {
    let host = Arc::new(Host { comments: "[]", ..Host::default() });
    let gitlab = GitLab::new(host.clone(), "gitlab.com/acme/platform/infra", None, None);
    let commit = commit("gitlab.com/acme/platform/infra");
    gitlab.archive(&commit, 1 << 20).await.unwrap();
    gitlab.put_comment(&commit, 7, "marker", "text").await.unwrap();
    let root = "https://gitlab.com/api/v4/projects/acme%2Fplatform%2Finfra";
    assert_eq!(
        host.requests(),
        [
            format!("GET {root}/repository/archive.tar.gz?sha=1a2b3c"),
            format!("GET {root}/merge_requests/7/notes?per_page=100&page=1"),
            format!("POST {root}/merge_requests/7/notes"),
        ]
    );
    assert_eq!(HostKind::of("gitlab.example.com/a/b"), HostKind::GitLab);
    assert_eq!(HostKind::of("github.example.com/gitlab/b"), HostKind::GitHub);
}

#[tokio::test]
async fn what_is_sent_elsewhere_is_signed_and_holds_no_text() {
    let host = Arc::new(Host::default());
    let webhook = SignedWebhook {
        https: host.clone(),
        url: "https://example.com/told".into(),
        secret: Secret::new("key"),
    };
    webhook.notify(&report(Status::Applied, "canary-77")).await.unwrap();
    let asked = host.asked.lock().unwrap();
    let (_, _, body) = &asked[0];
    assert!(body.contains("\"status\":\"applied\"") && !body.contains("canary"), "{body}");
    assert_eq!(format!("{:?}", Secret::new("key")), "Secret(…)");
}

#[tokio::test]
async fn whoever_was_not_told_is_named_without_what_authorises_there() {
    let webhook = SignedWebhook {
        https: Arc::new(HttpsClient::new(Duration::from_secs(5))),
        url: "http://user:canary-1@example.com/canary-2?token=canary-3".into(),
        secret: Secret::new("key"),
    };
    let error = webhook.notify(&report(Status::Applied, "")).await.unwrap_err().to_string();
    assert!(error.starts_with("example.com was not told: "), "{error}");
    assert!(!error.contains("canary"), "{error}");
}

#[tokio::test]
async fn nothing_is_sent_in_the_clear() {
    let client = HttpsClient::new(Duration::from_secs(5));
    let request = Request::get("http://example.com/").body(Bytes::new()).unwrap();
    let refused = client.send(request, 10).await;
    assert!(matches!(refused, Err(HttpsError::Insecure(_))), "{refused:?}");
}
