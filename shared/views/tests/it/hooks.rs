//! What progress and event stream tell of the engine's steps.

use engine::changes::{Action, Summary};
use engine::hooks::{EphemeralStep, Hook, HookObject};
use engine::object::DeposedKey;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use values::address::{InstanceKey, ModuleInstance, Resource, ResourceInstance, ResourceMode};
use values::{Type, Value};
use views::progress::{Progress, SharedWriter, write_completion};
use views::stream::{Operation, Stream};
use views::{Clock, Colour};

#[derive(Clone, Default)]
pub(crate) struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
    pub(crate) fn shared(&self) -> SharedWriter {
        Arc::new(Mutex::new(Box::new(self.clone())))
    }
}

#[derive(Clone, Default)]
pub(crate) struct Time(Arc<AtomicI64>);

impl Time {
    pub(crate) fn pass(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }
    pub(crate) fn clock(&self) -> Clock {
        let time = self.0.clone();
        let start = 1_767_225_600;
        Arc::new(move || {
            jiff::Timestamp::from_second(start + time.load(Ordering::Relaxed)).unwrap()
        })
    }
}

fn address(name: &str, key: InstanceKey) -> ResourceInstance {
    let module = ModuleInstance::root().child("m", InstanceKey::String("a b".into()));
    Resource::managed("aws_thing", name).absolute(&module).instance(key)
}

fn object(id: &str) -> Value {
    Value::object([("id", Value::string(id)), ("name", Value::string("n"))])
}

fn nothing() -> Value {
    Value::null(Type::object([("id", Type::String), ("name", Type::String)]))
}

/// One of everything, told to a hook.
fn tell(hook: &dyn Hook, time: &Time, tick: &dyn Fn()) {
    let (a, b) = (address("a", InstanceKey::Int(0)), address("b", InstanceKey::None));
    let data = Resource::data("aws_ami", "q").absolute(&ModuleInstance::root());
    let data = data.instance(InstanceKey::None);
    let current = |address| HookObject { address, deposed: None };
    let (old, none) = (object("i-1"), nothing());

    let _ = hook.pre_refresh(&current(&a), &old);
    let _ = hook.post_refresh(&current(&a), &old, &old);
    let _ = hook.pre_read(&data);
    time.pass(2);
    let _ = hook.post_read(&data, Ok(&object("ami-1")));

    let _ = hook.pre_apply(&current(&a), Action::Update, &old, &old);
    let _ = hook.pre_apply(&current(&b), Action::Create, &none, &object("i-2"));
    time.pass(9);
    tick();
    time.pass(1);
    tick();
    tick();
    let _ = hook.post_apply(&current(&b), Action::Create, &object("i-2"), None);
    time.pass(65);
    tick();
    let _ = hook.post_apply(&current(&a), Action::Update, &old, Some("refused"));

    let key = DeposedKey::from_stored("00000001");
    let deposed = HookObject { address: &b, deposed: Some(&key) };
    let _ = hook.pre_apply(&deposed, Action::Delete, &old, &none);
    let _ = hook.post_apply(&deposed, Action::Delete, &none, None);

    let _ = hook.pre_apply(&current(&b), Action::Forget, &old, &none);
    let _ = hook.post_apply(&current(&b), Action::Forget, &none, None);

    let secret = Value::object([("id", Value::string("key").sensitive())]);
    let _ = hook.pre_apply(&current(&b), Action::Delete, &secret, &none);
    let _ = hook.post_apply(&current(&b), Action::Delete, &none, None);
    hook.stopping();
}

fn outputs() -> BTreeMap<Arc<str>, Value> {
    BTreeMap::from([
        ("address".into(), Value::string("10.0.0.1 <&>")),
        ("list".into(), Value::list(Type::Number, vec![Value::number(1i64)])),
        ("password".into(), Value::string("hunter2").sensitive()),
    ])
}

#[test]
fn people_follow_progress() {
    let (sink, time) = (Sink::default(), Time::default());
    let progress = Progress::new(sink.shared(), time.clock(), Colour::Plain);
    tell(&progress, &time, &|| progress.tick());
    let mut end = sink.clone();
    write_completion(progress.done(), false, &outputs(), Colour::Plain, &mut end).unwrap();
    insta::assert_snapshot!(sink.text());
    let expected = Summary { add: 1, change: 0, destroy: 2, import: 0, forget: 1 };
    assert_eq!(progress.done(), expected);
}

#[test]
fn programs_follow_the_stream() {
    let (sink, time) = (Sink::default(), Time::default());
    let stream = Stream::new(sink.shared(), time.clock());
    stream.version("0.1.0");
    tell(&stream, &time, &|| stream.tick());
    stream.change_summary(stream.done(), Operation::Apply);
    stream.outputs(&outputs());
    let text = sink.text();
    assert!(text.lines().all(|l| serde_json::from_str::<serde_json::Value>(l).is_ok()));
    assert!(!text.contains("hunter2"));
    insta::assert_snapshot!(text);
}

/// All steps of an ephemeral resource, told to a hook.
fn tell_ephemeral(hook: &dyn Hook, time: &Time, tick: &dyn Fn()) {
    let token =
        Resource { mode: ResourceMode::Ephemeral, ty: "aws_token".into(), name: "t".into() };
    let token = token.absolute(&ModuleInstance::root());
    let (a, b) = (token.instance(InstanceKey::Int(0)), token.instance(InstanceKey::Int(1)));
    let _ = hook.ephemeral_deferred(&b);
    let _ = hook.pre_ephemeral(&a, EphemeralStep::Open);
    time.pass(10);
    tick();
    time.pass(2);
    let _ = hook.post_ephemeral(&a, EphemeralStep::Open, None);
    let _ = hook.pre_ephemeral(&a, EphemeralStep::Renew);
    let _ = hook.post_ephemeral(&a, EphemeralStep::Renew, None);
    let _ = hook.pre_ephemeral(&a, EphemeralStep::Close);
    let _ = hook.post_ephemeral(&a, EphemeralStep::Close, Some("refused"));
}

#[test]
fn people_follow_ephemeral_resources() {
    let (sink, time) = (Sink::default(), Time::default());
    let progress = Progress::new(sink.shared(), time.clock(), Colour::Plain);
    tell_ephemeral(&progress, &time, &|| progress.tick());
    let expected = "\
ephemeral.aws_token.t[1]: Configuration unknown, deferring...
ephemeral.aws_token.t[0]: Opening...
ephemeral.aws_token.t[0]: Still opening... [10s elapsed]
ephemeral.aws_token.t[0]: Opening complete after 12s
ephemeral.aws_token.t[0]: Renewing...
ephemeral.aws_token.t[0]: Renewal complete after 0s
ephemeral.aws_token.t[0]: Closing...
";
    assert_eq!(sink.text(), expected);
}

#[test]
fn programs_follow_ephemeral_resources() {
    let (sink, time) = (Sink::default(), Time::default());
    let stream = Stream::new(sink.shared(), time.clock());
    tell_ephemeral(&stream, &time, &|| stream.tick());
    let text = sink.text();
    let messages = text.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap());
    let messages: Vec<_> = messages
        .map(|m| {
            assert_eq!(m["hook"]["resource"]["addr"], "ephemeral.aws_token.t[0]");
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            (text(&m["type"]), text(&m["hook"]["action"]), text(&m["@message"]))
        })
        .collect();
    let expected = [
        ("ephemeral_op_start", "open", "Opening..."),
        ("ephemeral_op_progress", "open", "Still opening... [10s elapsed]"),
        ("ephemeral_op_complete", "open", "Opening complete after 12s"),
        ("ephemeral_op_start", "renew", "Renewing..."),
        ("ephemeral_op_complete", "renew", "Renewal complete after 0s"),
        ("ephemeral_op_start", "close", "Closing..."),
        ("ephemeral_op_errored", "close", "Closing errored after 0s"),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(kind, action, text)| {
            ((*kind).into(), (*action).into(), format!("ephemeral.aws_token.t[0]: {text}"))
        })
        .collect();
    assert_eq!(messages, expected);
}

#[test]
fn what_is_waited_for_is_told_in_one_line() {
    let text = "module.m[\"a b\"].aws_thing.a[0], module.m[\"a b\"].aws_thing.b: Not answered by the provider, and may still come to pass. Waiting until 2026-01-01T00:00:31Z...";
    let addresses = [address("a", InstanceKey::Int(0)), address("b", InstanceKey::None)];
    let until = jiff::Timestamp::new(1_767_225_630, 1).unwrap();
    let (sink, time) = (Sink::default(), Time::default());
    let progress = Progress::new(sink.shared(), time.clock(), Colour::Plain);
    progress.unanswered(&addresses, until);
    assert_eq!(sink.text(), format!("{text}\n"));

    let sink = Sink::default();
    Stream::new(sink.shared(), time.clock()).unanswered(&addresses, until);
    let message: serde_json::Value = serde_json::from_str(&sink.text()).unwrap();
    assert_eq!((&message["type"], &message["@message"]), (&"log".into(), &text.into()));
}

#[test]
fn colours_are_asked_for() {
    let (sink, time) = (Sink::default(), Time::default());
    let progress = Progress::new(sink.shared(), time.clock(), Colour::Ansi);
    let a = address("a", InstanceKey::None);
    let _ = progress.pre_refresh(&HookObject { address: &a, deposed: None }, &object("i-1"));
    assert_eq!(
        sink.text(),
        "\u{1b}[0m\u{1b}[1mmodule.m[\"a b\"].aws_thing.a: Refreshing state... [id=i-1]\u{1b}[0m\n"
    );
}
