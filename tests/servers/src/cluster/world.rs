//! What the server knows: namespaces, Secrets, permissions, policies, and the faults that a test asked for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard};

use serde_json::{Value, json};

use crate::wire::{self, Outcome, parameter};

use super::status::{Answer, forbidden, no_such_path, not_found, unauthorized, unavailable};

/// One request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The method.
    pub method: String,
    /// The path, as it came.
    pub path: String,
    /// The query, as it came.
    pub query: String,
    /// Who asks: the header `authorization`.
    pub token: String,
    /// The body; null where it is no JSON.
    pub body: Value,
}

impl Asked {
    /// A parameter of the query, decoded.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        parameter(&self.query, name)
    }
}

/// What a test wants to happen to the next request that it fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A write is done, and the connection cut before its answer.
    LoseAnswer,
    /// A write is done, and never answered.
    WithholdAnswer,
    /// A write is not even looked at; the connection is cut.
    CutBefore,
    /// A write is done, and answered with a status all the same, as proxies do.
    AnswerWith(u16),
    /// A request is answered with a status and not done.
    RefuseWith(u16),
    /// The next page that goes on with a listing is too old.
    Gone,
    /// Each page says that as many remain as before.
    Endless,
    /// A listing ends in the middle, and says that more remain.
    EndsEarly,
    /// A page that goes on with a listing holds nothing, and points to another.
    EmptyPage,
    /// A page that goes on with a listing points to itself.
    SameToken,
    /// A page that goes on with a listing is of another time.
    VersionMoves,
    /// Just before a write, another client changes the Secret.
    OvertakenBy(Value),
}

/// The phase of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// In use.
    Active,
    /// Being deleted.
    Terminating,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) revision: u64,
    pub(super) namespaces: BTreeMap<String, Option<Phase>>,
    pub(super) secrets: BTreeMap<(String, String), Value>,
    pub(super) listings: BTreeMap<String, (String, Vec<Value>)>,
    pub(super) denied: BTreeSet<(String, String)>,
    groups: BTreeSet<String>,
    pub(super) admission: Option<String>,
    /// Objects of other kinds, by path.
    objects: BTreeMap<String, Value>,
    pub(super) faults: VecDeque<Fault>,
    log: Vec<Asked>,
}

/// All of it, behind one lock: each request is one indivisible step.
#[derive(Debug, Default)]
pub struct World {
    state: Mutex<State>,
}

impl World {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Makes a namespace, or changes its phase.
    pub fn put_namespace(&self, name: &str, phase: Phase) {
        self.state().namespaces.insert(name.to_owned(), Some(phase));
    }

    /// Takes a permission away: RBAC's own verbs and resources.
    pub fn deny(&self, verb: &str, resource: &str) {
        self.state().denied.insert((verb.to_owned(), resource.to_owned()));
    }

    /// Lets everybody of a group read Secrets.
    pub fn allow_group(&self, group: &str) {
        self.state().groups.insert(group.to_owned());
    }

    /// Lets admission refuse every write of a Secret.
    pub fn refuse_by_admission(&self, message: &str) {
        self.state().admission = Some(message.to_owned());
    }

    /// Puts an object of another kind, or a list of them, under its path.
    pub fn put_object(&self, path: &str, object: Value) {
        self.state().objects.insert(path.to_owned(), object);
    }

    /// What shall befall the next requests that fit, in this order.
    pub fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state().faults.extend(faults);
    }

    /// The faults that have not befallen anybody yet.
    pub fn faults_left(&self) -> usize {
        self.state().faults.len()
    }

    /// The Secrets of a namespace, as they are.
    pub fn secrets(&self, namespace: &str) -> Vec<Value> {
        let state = self.state();
        let of_namespace = state.secrets.iter().filter(|((ns, _), _)| ns == namespace);
        of_namespace.map(|(_, secret)| secret.clone()).collect()
    }

    /// Changes a Secret as another client would, with a new version.
    pub fn edit(&self, namespace: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let mut state = self.state();
        let key = (namespace.to_owned(), name.to_owned());
        let mut secret = state.secrets.get(&key).unwrap().clone();
        change(&mut secret);
        state.revision += 1;
        secret["metadata"]["resourceVersion"] = json!(state.revision.to_string());
        let renamed = secret["metadata"]["name"].as_str().unwrap().to_owned();
        if renamed != name {
            state.secrets.remove(&key);
        }
        state.secrets.insert((namespace.to_owned(), renamed), secret);
    }

    /// Puts a Secret there as another client would.
    pub fn plant(&self, namespace: &str, name: &str, mut secret: Value) {
        let mut state = self.state();
        state.revision += 1;
        let revision = state.revision;
        secret["metadata"]["name"] = json!(name);
        secret["metadata"]["namespace"] = json!(namespace);
        secret["metadata"]["uid"] = json!(format!("uid-{revision}"));
        secret["metadata"]["resourceVersion"] = json!(revision.to_string());
        state.secrets.insert((namespace.to_owned(), name.to_owned()), secret);
    }

    /// Every request so far, as `METHOD path`, and forgets them.
    pub fn take_log(&self) -> Vec<String> {
        let log = std::mem::take(&mut self.state().log);
        log.into_iter().map(|asked| format!("{} {}", asked.method, asked.path)).collect()
    }

    /// The queries of every request so far.
    pub fn queries(&self) -> Vec<String> {
        self.state().log.iter().map(|asked| asked.query.clone()).collect()
    }

    pub(super) fn outcome(&self, asked: &Asked) -> Outcome {
        let mut state = self.state();
        state.log.push(asked.clone());
        if asked.token != "Bearer secret-token" {
            return told(unauthorized());
        }
        let is_write = asked.path.contains("/secrets") && asked.method != "GET";
        let fault = match state.faults.front() {
            Some(Fault::RefuseWith(_)) => state.faults.pop_front(),
            Some(
                Fault::LoseAnswer
                | Fault::WithholdAnswer
                | Fault::CutBefore
                | Fault::AnswerWith(_)
                | Fault::OvertakenBy(_),
            ) if is_write => state.faults.pop_front(),
            _ => None,
        };
        match &fault {
            Some(Fault::RefuseWith(code)) => {
                return told(unavailable(*code));
            }
            Some(Fault::CutBefore) => return Outcome::Cut,
            Some(Fault::OvertakenBy(change)) => state.overtake(asked, change),
            _ => {}
        }
        let answer = state.respond(asked);
        match fault {
            Some(Fault::LoseAnswer) => Outcome::Cut,
            Some(Fault::WithholdAnswer) => Outcome::Silent,
            Some(Fault::AnswerWith(code)) => told(unavailable(code)),
            _ => told(answer),
        }
    }
}

impl State {
    fn respond(&mut self, asked: &Asked) -> Answer {
        let words: Vec<&str> = asked.path.trim_matches('/').split('/').collect();
        match words.as_slice() {
            ["api", "v1", "namespaces", name] if asked.method == "GET" => self.namespace(name),
            ["api", "v1", "namespaces", namespace, "secrets"] => self.secrets_of(namespace, asked),
            ["api", "v1", "namespaces", namespace, "secrets", name] => {
                self.secret(namespace, name, asked)
            }
            ["apis", "authorization.k8s.io", "v1", "selfsubjectaccessreviews"] => {
                match self.is_denied("create", "selfsubjectaccessreviews") {
                    true => forbidden("create", "selfsubjectaccessreviews", ""),
                    false => self.review(&asked.body),
                }
            }
            [
                "apis",
                "authorization.k8s.io",
                "v1",
                "namespaces",
                _,
                "localsubjectaccessreviews",
            ] => {
                let groups = asked.body["spec"]["groups"].as_array();
                let allowed = groups.into_iter().flatten().filter_map(Value::as_str);
                let allowed = allowed.into_iter().any(|group| self.groups.contains(group));
                let mut answer = asked.body.clone();
                answer["status"] = json!({ "allowed": allowed });
                (201, answer)
            }
            ["apis", "authentication.k8s.io", "v1", "selfsubjectreviews"] => {
                let mut answer = asked.body.clone();
                answer["status"] = json!({ "userInfo": { "username": "tester" } });
                (201, answer)
            }
            _ => self.other(asked, &words),
        }
    }

    fn namespace(&self, name: &str) -> Answer {
        if self.is_denied("get", "namespaces") {
            return forbidden("get", "namespaces", name);
        }
        match self.namespaces.get(name) {
            Some(Some(phase)) => {
                let status = json!({ "phase": format!("{phase:?}") });
                let labels = json!({ "kubernetes.io/metadata.name": name });
                let metadata = json!({ "name": name, "labels": labels });
                (
                    200,
                    json!({ "kind": "Namespace", "apiVersion": "v1", "metadata": metadata, "status": status }),
                )
            }
            _ => not_found("namespaces", name),
        }
    }

    fn review(&self, body: &Value) -> Answer {
        let asked = &body["spec"]["resourceAttributes"];
        let text = |name: &str| asked[name].as_str().unwrap_or_default().to_owned();
        let (verb, resource, namespace) = (text("verb"), text("resource"), text("namespace"));
        let scoped = match namespace.is_empty() {
            true => format!("all {resource}"),
            false => resource.clone(),
        };
        let allowed = !self.is_denied(&verb, &resource) && !self.is_denied(&verb, &scoped);
        let reason = if allowed { "RBAC: allowed by RoleBinding" } else { "" };
        let mut answer = body.clone();
        answer["status"] = json!({ "allowed": allowed, "reason": reason });
        (201, answer)
    }

    fn other(&self, asked: &Asked, words: &[&str]) -> Answer {
        let known = ["pods", "validatingadmissionpolicies", "validatingadmissionpolicybindings"];
        let Some(resource) = words.iter().rev().find(|word| known.contains(word)) else {
            return no_such_path();
        };
        let is_list = words.last() == Some(resource);
        let verb = if is_list { "list" } else { "get" };
        if self.is_denied(verb, resource) {
            return forbidden(verb, resource, "");
        }
        match self.objects.get(&asked.path) {
            Some(object) => (200, object.clone()),
            None if is_list => {
                (200, json!({ "kind": "List", "apiVersion": "v1", "metadata": {}, "items": [] }))
            }
            None => not_found(resource, words.last().unwrap_or(&"")),
        }
    }

    pub(super) fn is_denied(&self, verb: &str, resource: &str) -> bool {
        self.denied.contains(&(verb.to_owned(), resource.to_owned()))
    }

    /// Another client's write just before this one.
    fn overtake(&mut self, asked: &Asked, change: &Value) {
        let name = asked.path.rsplit('/').next().unwrap_or_default().to_owned();
        let found = self.secrets.iter_mut().find(|((_, found), _)| *found == name);
        if let Some((_, secret)) = found {
            self.revision += 1;
            secret["data"] = change.clone();
            secret["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        }
    }
}

fn told((status, value): Answer) -> Outcome {
    let headers = vec![("content-type", "application/json".to_owned())];
    Outcome::Answered(wire::Answer { status, headers, body: value.to_string().into() })
}
