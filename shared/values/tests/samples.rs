//! Arbitrary types and values.

use proptest::prelude::*;
use values::{Number, Type, Value};

pub(crate) fn types() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![Just(Type::Bool), Just(Type::Number), Just(Type::String)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::set),
            inner.clone().prop_map(Type::map),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Type::tuple),
            prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(Type::object),
        ]
    })
}

fn known(ty: &Type, unknowns: bool) -> BoxedStrategy<Value> {
    match ty {
        Type::Dynamic => Just(Value::dynamic_null()).boxed(),
        Type::Bool => any::<bool>().prop_map(Value::bool).boxed(),
        Type::Number => prop_oneof![
            any::<i64>().prop_map(Value::number),
            "-?[0-9]{1,25}\\.[0-9]{1,25}".prop_map(|s| Value::number(Number::parse(&s).unwrap())),
            // Read from decimals: the codecs carry 512 bits.
            any::<f64>()
                .prop_filter_map("finite", |f| Number::parse(&f.to_string()))
                .prop_map(Value::number),
        ]
        .boxed(),
        Type::String => {
            prop_oneof!["[a-z<&]{0,4}", any::<String>()].prop_map(Value::string).boxed()
        }
        Type::List(t) => {
            let t = (**t).clone();
            prop::collection::vec(values(&t, unknowns), 0..4)
                .prop_map(move |items| Value::list(t.clone(), items))
                .boxed()
        }
        Type::Set(t) => {
            let t = (**t).clone();
            prop::collection::vec(values(&t, unknowns), 0..4)
                .prop_map(move |items| Value::set(t.clone(), items))
                .boxed()
        }
        Type::Map(t) => {
            let t = (**t).clone();
            prop::collection::btree_map("[a-c]", values(&t, unknowns), 0..3)
                .prop_map(move |items| Value::map(t.clone(), items))
                .boxed()
        }
        Type::Tuple(ts) => ts
            .iter()
            .map(|t| values(t, unknowns))
            .collect::<Vec<_>>()
            .prop_map(Value::tuple)
            .boxed(),
        Type::Object(o) => o
            .attributes
            .iter()
            .map(|(k, t)| {
                values(t, unknowns).prop_map({
                    let k = k.clone();
                    move |v| (k.clone(), v)
                })
            })
            .collect::<Vec<_>>()
            .prop_map(Value::object)
            .boxed(),
    }
}

pub(crate) fn values(ty: &Type, unknowns: bool) -> BoxedStrategy<Value> {
    let null = Just(Value::null(ty.clone()));
    let unknown = Just(Value::unknown(ty.clone()));
    let refined = Just(Value::unknown_not_null(ty.clone()));
    match unknowns {
        false => prop_oneof![9 => known(ty, false), 1 => null].boxed(),
        true => prop_oneof![12 => known(ty, true), 1 => null, 1 => unknown, 1 => refined].boxed(),
    }
}

/// A type and a value of it.
pub(crate) fn typed(unknowns: bool) -> impl Strategy<Value = (Type, Value)> {
    types().prop_flat_map(move |t| (Just(t.clone()), values(&t, unknowns)))
}
