//! Addresses written as traversals: in `moved`, `removed` and `import` blocks.

use std::sync::Arc;

use values::address::{
    InstanceKey, ModuleInstance, ModuleStep, Resource, ResourceInstance, ResourceMode,
};

use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{IndexKey, Traversal, TraversalStep};

/// What a traversal leads to, relative to the module that it stands in.
pub(super) enum Target {
    Module(ModuleInstance),
    Resource(ResourceInstance),
}

/// A target, and the places of the instance keys of its modules in order.
pub(super) struct ParsedTarget {
    pub(super) target: Target,
    pub(super) module_keys: Vec<Span>,
}

type Refused = Box<Diagnostic>;

fn refused(summary: &str, detail: impl Into<String>, at: Span) -> Refused {
    Box::new(Diagnostic::error(summary, detail).at(at))
}

/// One name or key of an address, the root included.
#[derive(Clone)]
enum Step {
    Name(Arc<str>),
    Key(IndexKey),
    Other,
}

/// What an address is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressOf {
    /// An object, as in `moved` and `import`: `resource.` may stand in front, words of the language not.
    Object,
    /// A declaration, as in `removed`: after `data` or without it, whatever stands there is the resource type.
    Declaration,
}

pub(super) fn parse_target(traversal: &Traversal, of: AddressOf) -> Result<ParsedTarget, Refused> {
    let root = (Step::Name(traversal.root.clone()), traversal.root_span);
    let steps: Vec<(Step, Span)> = std::iter::once(root)
        .chain(traversal.steps.iter().map(|step| match step {
            TraversalStep::Attribute { name, span } => (Step::Name(name.clone()), *span),
            TraversalStep::Index { key, span } => (Step::Key(key.clone()), *span),
            TraversalStep::Splat { span } => (Step::Other, *span),
        }))
        .collect();
    let mut rest = steps.as_slice();
    let (mut module, mut module_keys) = (Vec::new(), Vec::new());
    while let [(Step::Name(word), span), after @ ..] = rest
        && &**word == "module"
    {
        const OPERATOR: &str = "Invalid address operator";
        let missing = "Prefix \"module.\" must be followed by a module name.";
        let (name, mut after) = match after {
            [(Step::Name(name), _), after @ ..] => (name, after),
            [(_, wrong), ..] => return Err(refused(OPERATOR, missing, *wrong)),
            [] => return Err(refused(OPERATOR, missing, *span)),
        };
        let mut key = InstanceKey::None;
        if let [(Step::Key(written), span), more @ ..] = after {
            key = instance_key(written).map_err(|wrong| {
                let detail = match wrong {
                    WrongKey::NotWhole => format!("Invalid module index: {NOT_WHOLE}."),
                    WrongKey::OtherType => {
                        "Invalid module key: must be either a string or an integer.".to_owned()
                    }
                };
                refused(OPERATOR, detail, *span)
            })?;
            module_keys.push(*span);
            after = more;
        }
        if let [(Step::Key(_) | Step::Other, wrong), ..] = after {
            let detail = "Module address prefix must be followed by dot and then a name.";
            return Err(refused(OPERATOR, detail, *wrong));
        }
        module.push(ModuleStep { name: name.clone(), key });
        rest = after;
    }
    let module = ModuleInstance(module.into());
    if rest.is_empty() {
        return Ok(ParsedTarget { target: Target::Module(module), module_keys });
    }
    let resource = parse_resource(rest, module, of)?;
    Ok(ParsedTarget { target: Target::Resource(resource), module_keys })
}

fn parse_resource(
    steps: &[(Step, Span)],
    module: ModuleInstance,
    of: AddressOf,
) -> Result<ResourceInstance, Refused> {
    const SUMMARY: &str = "Invalid address";
    let (mode, steps) = match steps {
        [(Step::Name(word), _), rest @ ..] if &**word == "data" => (ResourceMode::Data, rest),
        [(Step::Name(word), _), rest @ ..] if &**word == "ephemeral" && of == AddressOf::Object => {
            (ResourceMode::Ephemeral, rest)
        }
        [(Step::Name(word), _), rest @ ..] if &**word == "resource" && of == AddressOf::Object => {
            (ResourceMode::Managed, rest)
        }
        [(Step::Name(word), start), .., (_, end)]
            if of == AddressOf::Object && is_reserved(word) =>
        {
            return Err(refused(SUMMARY, reserved(word), start.to(*end)));
        }
        steps => (ResourceMode::Managed, steps),
    };
    let [(ty, ty_span), (name, name_span), rest @ ..] = steps else {
        let detail = "Resource specification must include a resource type and name.";
        let span = steps.first().map_or_else(|| Span::new(crate::source::FileId(0), 0, 0), |s| s.1);
        return Err(refused(SUMMARY, detail, span));
    };
    let Step::Name(ty) = ty else {
        let detail = match mode {
            ResourceMode::Managed => "A resource type name is required.",
            ResourceMode::Data => "A data source name is required.",
            ResourceMode::Ephemeral => "An ephemeral resource type name is required.",
        };
        return Err(refused(SUMMARY, detail, *ty_span));
    };
    let Step::Name(name) = name else {
        return Err(refused(SUMMARY, "A resource name is required.", *name_span));
    };
    let resource = Resource { mode, ty: ty.clone(), name: name.clone() };
    let key = match rest {
        [] => InstanceKey::None,
        [(_, span), ..] if of == AddressOf::Declaration => {
            let detail = "Resource address must be a resource (e.g. \"test_instance.foo\"), not a resource instance (e.g. \"test_instance.foo[1]\").";
            return Err(refused("Resource instance keys not allowed", detail, *span));
        }
        [(Step::Key(key), span)] => instance_key(key).map_err(|wrong| {
            let reason = match wrong {
                WrongKey::NotWhole => NOT_WHOLE,
                WrongKey::OtherType => "either a string or an integer is required",
            };
            refused(SUMMARY, format!("Invalid resource instance key: {reason}."), *span)
        })?,
        [(_, span)] => {
            let detail = "Resource instance key must be given in square brackets.";
            return Err(refused(SUMMARY, detail, *span));
        }
        [_, (_, span), ..] => {
            return Err(refused(SUMMARY, "Unexpected extra operators after address.", *span));
        }
    };
    Ok(ResourceInstance { module, resource, key })
}

/// Whether the language itself calls something else by a word, so that it begins no address of a resource.
pub fn is_reserved(word: &str) -> bool {
    const RESERVED: [&str; 11] = [
        "count",
        "each",
        "local",
        "module",
        "path",
        "self",
        "terraform",
        "var",
        "template",
        "lazy",
        "arg",
    ];
    RESERVED.contains(&word)
}

/// Why such a word begins none.
pub fn reserved(word: &str) -> String {
    format!(
        "The keyword \"{word}\" is reserved and cannot be used to target a resource address. If you are targeting a resource type that uses a reserved keyword, please prefix your address with \"resource.\"."
    )
}

const NOT_WHOLE: &str =
    "value must be a whole number, between -9223372036854775808 and 9223372036854775807";

enum WrongKey {
    NotWhole,
    OtherType,
}

/// A computed key ([`IndexKey::Invalid`]) counts as none.
fn instance_key(key: &IndexKey) -> Result<InstanceKey, WrongKey> {
    match key {
        IndexKey::String(text) => Ok(InstanceKey::String(text.clone())),
        IndexKey::Number(digits) => {
            digits.parse().map(InstanceKey::Int).map_err(|_| WrongKey::NotWhole)
        }
        IndexKey::Invalid => Ok(InstanceKey::None),
        IndexKey::Bool(_) | IndexKey::Null => Err(WrongKey::OtherType),
    }
}
