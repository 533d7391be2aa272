//! Whether the stated moves make sense, once it is known which instances are declared.

use super::endpoint::Endpoint;
use super::statement::{Statement, in_order};
use crate::evaluation::EvalContext;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::Repetition;
use language::source::Span;
use std::collections::BTreeMap;
use values::address::{ConfigResource, ModuleInstance};

pub(super) fn validate(context: &EvalContext, statements: &[Statement]) -> Diagnostics {
    let mut validation = Validation {
        context,
        found: Diagnostics::new(),
        by_from: BTreeMap::new(),
        by_to: BTreeMap::new(),
    };
    for statement in statements {
        for module in context.working.module_instances(&statement.module).iter() {
            validation.check(statement, module);
        }
    }
    let mut found = validation.found;
    // A cycle says little; any other mistake says more, and may be the cause of it.
    if !found.has_errors()
        && let Err(cycles) = in_order(statements)
    {
        for cycle in cycles {
            let mut lines: Vec<String> = cycle
                .iter()
                .filter_map(|index| statements.get(*index))
                .map(|s| format!("\n  - {}: {}", place(context, s.span), s.pattern()))
                .collect();
            lines.sort();
            found.push(Diagnostic::error(
                "Cyclic dependency in move statements",
                format!(
                    "The following chained move statements form a cycle, and so there is no final location to move objects to:{}\n\nA chain of move statements must end with an address that doesn't appear in any other statements, and which typically also refers to an object still declared in the configuration.",
                    lines.concat()
                ),
            ));
        }
    }
    found
}

struct Validation<'a> {
    context: &'a EvalContext,
    found: Diagnostics,
    by_from: BTreeMap<Endpoint, (Endpoint, Span)>,
    by_to: BTreeMap<Endpoint, (Endpoint, Span)>,
}

impl Validation<'_> {
    fn check(&mut self, statement: &Statement, module: &ModuleInstance) {
        let (from, to) = (statement.from.within(module), statement.to.within(module));
        let at = statement.span;
        if from == to {
            self.error(at, "Redundant move statement", format!(
                "This statement declares a move from {from} to the same address, which is the same as not declaring this move at all."
            ));
            return;
        }
        let (noun, short) = from.nouns();
        if let Some(declared) = declared(self.context, &from) {
            let declared = declared
                .map_or_else(String::new, |span| format!(" at {}", place(self.context, span)));
            self.error(at, "Moved object still exists", format!(
                "This statement declares a move from {from}, but that {noun} is still declared{declared}.\n\nChange your configuration so that this {short} will be declared as {to} instead."
            ));
        }
        match self.by_from.get(&from) {
            Some((other, _)) if *other == to => {}
            Some((other, span)) => {
                let detail = format!(
                    "A statement at {} declared that {from} moved to {other}, but this statement instead declares that it moved to {to}.\n\nEach {noun} can move to only one destination {short}.",
                    place(self.context, *span)
                );
                self.error(at, AMBIGUOUS, detail);
            }
            None => {
                self.by_from.insert(from.clone(), (to.clone(), at));
            }
        }
        match self.by_to.get(&to) {
            Some((other, _)) if *other == from => {}
            Some((other, span)) => {
                let detail = format!(
                    "A statement at {} declared that {other} moved to {to}, but this statement instead declares that {from} moved there.\n\nEach {noun} can have moved from only one source {short}.",
                    place(self.context, *span)
                );
                self.error(at, AMBIGUOUS, detail);
            }
            None => {
                self.by_to.insert(to, (from, at));
            }
        }
    }

    fn error(&mut self, at: Span, summary: &str, detail: String) {
        self.found.push(Diagnostic::error(summary, detail).at(at));
    }
}

const AMBIGUOUS: &str = "Ambiguous move statements";

/// `main.tf:3,1`
fn place(context: &EvalContext, span: Span) -> String {
    let range = context.configuration.sources.range(span);
    format!("{}:{},{}", range.filename, range.start.line, range.start.column)
}

/// Whether an object is still declared, and what declares it.
fn declared(context: &EvalContext, object: &Endpoint) -> Option<Option<Span>> {
    let call = |caller: &ModuleInstance, name: &str| {
        let node = context.node(&caller.path())?;
        node.module.module_calls.get(name)
    };
    let deciding = |repetition: &Repetition, block: Span| {
        let expression = repetition.for_each().or(repetition.count());
        expression.map_or(block, |expression| expression.span)
    };
    let resource = |config: &ConfigResource| context.configuration.resource(config);
    match object {
        Endpoint::Module(module) => context.working.has_module(module).then(|| {
            let call = call(&module.parent()?, &module.0.last()?.name)?;
            Some(deciding(&call.repetition, call.span))
        }),
        Endpoint::Call(caller, name) => {
            let call = call(caller, name)?;
            context.working.has_module(caller).then_some(Some(call.span))
        }
        Endpoint::Instance(instance) => {
            let expansion = context.working.expansion(&instance.containing())?;
            expansion
                .contains(&instance.key)
                .then(|| resource(&instance.config()).map(|r| deciding(&r.repetition, r.span)))
        }
        Endpoint::Resource(whole) => {
            context.working.expansion(whole)?;
            Some(resource(&whole.config()).map(|r| r.span))
        }
    }
}
