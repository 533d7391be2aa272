//! Webhooks: what is believed, and which runs come of it.

use super::{ADA, DIGEST, GRACE, SECRET, Scene, body, scene};
use bytes::Bytes;
use hmac::{Hmac, Mac};
use runs::api::{ApiRequest, ApiResponse};
use runs::run_reference::Mode;
use runs::run_state::{Author, RunState};
use serde_json::{Value, json};
use sha2::Sha256;

fn signature(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

fn push(sha: &str, files: &[&str]) -> Value {
    json!({
        "ref": "refs/heads/main",
        "after": sha,
        "commits": [{"added": [], "modified": files, "removed": []}],
        "sender": {"login": "ada"},
        "repository": {"full_name": "acme/infra", "html_url": "https://github.com/acme/infra"},
    })
}

fn pull_request(head: &str) -> Value {
    let repository =
        |name: &str| json!({"full_name": name, "html_url": "https://github.com/acme/infra"});
    json!({
        "action": "synchronize",
        "number": 7,
        "pull_request": {
            "user": {"login": "eve"},
            "head": {"ref": "feature", "sha": "c".repeat(40), "repo": repository(head)},
            "base": {"ref": "main", "sha": "b".repeat(40), "repo": repository("acme/infra")},
        },
        "repository": repository("acme/infra"),
    })
}

fn delivery(event: &str, text: &str, signature: Option<String>) -> ApiRequest {
    let mut headers = vec![("x-github-event".to_owned(), event.to_owned())];
    headers.extend(signature.map(|signature| ("x-hub-signature-256".to_owned(), signature)));
    ApiRequest {
        method: "POST".into(),
        path: "/webhooks/github".into(),
        headers: headers.into_iter().collect(),
        body: Bytes::from(text.to_owned()),
        ..ApiRequest::default()
    }
}

async fn github(scene: &Scene, event: &str, payload: &Value) -> ApiResponse {
    let text = payload.to_string();
    scene.answer(&delivery(event, &text, Some(signature(SECRET, &text)))).await
}

fn runs(response: &ApiResponse) -> Vec<String> {
    assert!(matches!(response.status, 200 | 202), "{response:?}");
    serde_json::from_value(body(response)["runs"].clone()).unwrap()
}

#[tokio::test]
async fn a_push_starts_a_run_of_each_estate_that_it_touches() {
    let scene = scene().await;
    let response =
        github(&scene, "push", &push(&"a".repeat(40), &["network/main.tf", "README.md"])).await;
    let started = runs(&response);
    assert_eq!((response.status, started.len()), (202, 1));
    assert_eq!(scene.asked(), [format!("start {}", started[0])]);
    let state = scene.state(&started[0], "network").await;
    assert_eq!((state.mode, &state.author), (Mode::Deploy, &Author::Login("ada".into())));
    let other = github(&scene, "push", &push(&"b".repeat(40), &["README.md"])).await;
    assert!(runs(&other).is_empty());
    let everything = push(&"c".repeat(40), &["network/a.tf", "service/b.tf"]);
    assert_eq!(runs(&github(&scene, "push", &everything).await).len(), 2);
}

#[tokio::test]
async fn whoever_wrote_a_commit_of_the_push_is_an_author_of_its_run() {
    let scene = scene().await;
    let mut payload = push(&"a".repeat(40), &["network/main.tf"]);
    let commit = |author: Value| json!({"modified": ["network/main.tf"], "author": author});
    payload["sender"] = json!({"login": "eve"});
    payload["commits"] = json!([
        commit(json!({"name": "Ada", "email": "ada@example.com", "username": "ada"})),
        // An address that is nobody's at the host.
        commit(json!({"name": "Bob", "email": "bob@example.com"})),
        commit(json!({"name": "Nobody", "email": "", "username": null})),
        json!({"modified": ["network/main.tf"]}),
    ]);
    let run = runs(&github(&scene, "push", &payload).await).remove(0);
    let state = scene.state(&run, "network").await;
    assert_eq!(state.author, Author::Login("eve".into()));
    assert_eq!(state.authors, ["ada", "bob@example.com"].map(str::to_owned).into());
    scene.wait(&run, "network").await;
    let approve = json!({"estate": "network", "plan_digest": DIGEST});
    let path = format!("/runs/{run}/approve");
    let refused = scene.post(ADA, &path, approve.clone()).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(refused.body.contains("(ada)"), "{refused:?}");
    assert_eq!(scene.post(GRACE, &path, approve).await.status, 202);
}

#[tokio::test]
async fn a_repeated_or_replayed_delivery_is_the_same_run() {
    let scene = scene().await;
    let payload = push(&"a".repeat(40), &["network/main.tf"]);
    let first = runs(&github(&scene, "push", &payload).await);
    scene.clock.advance(3_600);
    assert_eq!(runs(&github(&scene, "push", &payload).await), first);
    let started: Vec<_> = scene.asked();
    assert_eq!(started, vec![format!("start {}", first[0]); 2], "one name: one execution");
    // Once it is over, nothing is asked any more.
    let states = scene.environment.run_states().await.unwrap();
    let state = scene.state(&first[0], "network").await;
    let end = |state: &mut RunState| state.status = runs::run_state::Status::Applied;
    states.change(&state.estate, &state.run, end).await.unwrap();
    assert_eq!(runs(&github(&scene, "push", &payload).await), first);
    assert!(scene.asked().is_empty());
}

#[tokio::test]
async fn a_forged_delivery_starts_nothing() {
    let scene = scene().await;
    let text = push(&"a".repeat(40), &["network/main.tf"]).to_string();
    let altered = text.replace("ada", "eve");
    let real = signature(SECRET, &text);
    for (text, signature) in [
        (&text, None),
        (&text, Some(signature("another", &text))),
        (&altered, Some(real.clone())),
        (&text, Some(real.replace("sha256=", "sha1="))),
        (&text, Some(real[..40].to_owned())),
        (&text, Some("sha256=".to_owned())),
    ] {
        let response = scene.answer(&delivery("push", text, signature.clone())).await;
        assert_eq!(response.status, 401, "{signature:?}: {response:?}");
    }
    // Where no secret is set, nothing is authentic, an empty key's MAC neither.
    let mut open = push(&"a".repeat(40), &["network/main.tf"]);
    open["repository"] =
        json!({"full_name": "acme/open", "html_url": "https://github.com/acme/open"});
    let open = open.to_string();
    let response = scene.answer(&delivery("push", &open, Some(signature("", &open)))).await;
    assert_eq!(response.status, 401);
    assert!(scene.asked().is_empty());
}

#[tokio::test]
async fn other_repositories_and_hosts_are_refused() {
    let scene = scene().await;
    for (name, address) in [
        ("evil/infra", "https://github.com/evil/infra"),
        ("acme/infra", "https://github.evil.com/acme/infra"),
    ] {
        let mut payload = push(&"a".repeat(40), &["network/main.tf"]);
        payload["repository"] = json!({"full_name": name, "html_url": address});
        assert_eq!(github(&scene, "push", &payload).await.status, 403);
    }
    let response = scene.answer(&delivery("push", "{", None)).await;
    assert_eq!(response.status, 400);
    assert!(scene.asked().is_empty());
}

#[tokio::test]
async fn pull_requests_plan_only_and_forks_never() {
    let scene = scene().await;
    let started = runs(&github(&scene, "pull_request", &pull_request("acme/infra")).await);
    assert_eq!(started.len(), 2, "the host does not say which files: both estates of the branch");
    let state = scene.state(&started[0], "network").await;
    assert_eq!(state.mode, Mode::Plan);
    assert_eq!(state.commit().unwrap().pull_request, Some(7));
    scene.asked();
    let fork = github(&scene, "pull_request", &pull_request("eve/infra")).await;
    assert!(runs(&fork).is_empty());
    let mut removed = pull_request("acme/infra");
    removed["pull_request"]["head"]["repo"] = Value::Null;
    assert!(runs(&github(&scene, "pull_request", &removed).await).is_empty());
    assert!(scene.asked().is_empty());
}

#[tokio::test]
async fn what_brings_no_commits_starts_nothing() {
    let scene = scene().await;
    let mut deleted = push(&"0".repeat(40), &[]);
    let mut tag = push(&"a".repeat(40), &["network/main.tf"]);
    tag["ref"] = json!("refs/tags/v1");
    deleted["commits"] = json!([]);
    let mut closed = pull_request("acme/infra");
    closed["action"] = json!("closed");
    for (event, payload) in
        [("push", deleted), ("push", tag), ("pull_request", closed), ("ping", push("a", &[]))]
    {
        assert!(runs(&github(&scene, event, &payload).await).is_empty(), "{event}");
    }
}

#[tokio::test]
async fn a_newer_push_supersedes_what_waits() {
    let scene = scene().await;
    let older = runs(&github(&scene, "push", &push(&"a".repeat(40), &["network/a.tf"])).await);
    scene.wait(&older[0], "network").await;
    scene.asked();
    scene.clock.advance(60);
    let newer = runs(&github(&scene, "push", &push(&"b".repeat(40), &["network/a.tf"])).await);
    let asked = scene.asked();
    assert_eq!(
        asked,
        [format!("start {}", newer[0]), format!("fail token-of-{} Superseded", older[0])]
    );
    // The older push again changes nothing for the newer one.
    scene.wait(&newer[0], "network").await;
    github(&scene, "push", &push(&"a".repeat(40), &["network/a.tf"])).await;
    assert!(!scene.asked().iter().any(|asked| asked.starts_with("fail")));
}

fn gitlab_delivery(event: &str, token: Option<&str>, payload: &Value) -> ApiRequest {
    let mut headers = vec![("x-gitlab-event".to_owned(), event.to_owned())];
    headers.extend(token.map(|token| ("x-gitlab-token".to_owned(), token.to_owned())));
    ApiRequest {
        method: "POST".into(),
        path: "/webhooks/gitlab".into(),
        headers: headers.into_iter().collect(),
        body: Bytes::from(payload.to_string()),
        ..ApiRequest::default()
    }
}

#[tokio::test]
async fn gitlab_likewise() {
    let scene = scene().await;
    let project = json!({"path_with_namespace": "acme/platform/infra", "web_url": "https://gitlab.com/acme/platform/infra"});
    let push = json!({
        "ref": "refs/heads/main", "after": "a".repeat(40), "user_username": "ada",
        "total_commits_count": 1, "project": project,
        "commits": [{"modified": ["x.tf"], "author": {"name": "Grace", "email": "grace@example.com"}}],
    });
    let answer = |request: ApiRequest| {
        let scene = &scene;
        async move { scene.answer(&request).await }
    };
    let response = answer(gitlab_delivery("Push Hook", Some(SECRET), &push)).await;
    let [run] = &*runs(&response) else { panic!("{response:?}") };
    let state = scene.state(run, "platform").await;
    assert_eq!(state.authors, ["grace@example.com".to_owned()].into());
    for token in [None, Some(""), Some("other"), Some("it's a secret ")] {
        let response = answer(gitlab_delivery("Push Hook", token, &push)).await;
        assert_eq!(response.status, 401, "{token:?}");
    }
    let request = |source: u64| {
        json!({
            "user": {"username": "ada"}, "project": project,
            "object_attributes": {
                "iid": 3, "action": "update", "oldrev": "1", "source_project_id": source, "target_project_id": 1,
                "target_branch": "main", "last_commit": {"id": "c".repeat(40)},
            },
        })
    };
    let own = answer(gitlab_delivery("Merge Request Hook", Some(SECRET), &request(1))).await;
    assert_eq!(runs(&own).len(), 1);
    let fork = answer(gitlab_delivery("Merge Request Hook", Some(SECRET), &request(2))).await;
    assert!(runs(&fork).is_empty());
}
