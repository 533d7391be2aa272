//! `templatefile` and `templatestring`: templates that see given variables only.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use values::convert::convert;
use values::{Kind, Type, Value};

use super::call::Argument;
use super::{Binding, Evaluator, Frame, Locals};
use crate::diagnostics::Diagnostics;
use crate::functions::CallError;
use crate::reference::traversals_in;
use crate::scope::Scope;
use crate::syntax::ast::{Expression, ExpressionKind};
use crate::syntax::{is_identifier, parse_template};

type Result<T> = std::result::Result<T, CallError>;

fn argument(index: usize, message: impl Into<String>) -> CallError {
    CallError::Argument { index, message: message.into() }
}

fn other(message: impl Into<String>) -> CallError {
    CallError::Other { message: message.into() }
}

impl Evaluator<'_> {
    pub(super) fn template_file(&mut self, path: &Value, vars: &Value) -> Result<Value> {
        let Some(scope) = self.scope else { return Ok(Value::dynamic()) };
        if self.template_depth > 0 {
            return Err(other(
                "cannot recursively call templatefile from inside another template function",
            ));
        }
        for (index, value) in [path, vars].into_iter().enumerate() {
            if value.is_null() {
                return Err(argument(index, "argument must not be null"));
            }
        }
        let marks = path.marks();
        let Some(name) = path.as_str().filter(|_| vars.is_known()) else {
            return Ok(Value::dynamic().with_marks(marks | vars.deep_marks()));
        };
        let text = read_text(scope, name)?;
        let template = parse(scope, name, text.as_bytes())
            .map_err(|errors| other(first_error(scope, &errors)))?;
        // Marks of the variables reach the result even where the template does not use them.
        let rendered = self.render(&template, &vars.unmark_deep())?;
        Ok(rendered.with_marks(marks | vars.deep_marks()))
    }

    pub(super) fn template_string(
        &mut self,
        template: Option<&Argument<'_>>,
        vars: &Value,
        locals: Locals<'_>,
    ) -> Result<Value> {
        let (Some(scope), Some(template)) = (self.scope, template) else {
            return Ok(Value::dynamic());
        };
        if self.template_depth > 0 {
            return Err(other(
                "cannot recursively call templatestring from inside another template function",
            ));
        }
        if vars.is_null() {
            return Err(argument(1, "argument must not be null"));
        }
        if !vars.is_known() {
            return Ok(Value::unknown(Type::String).with_marks(vars.deep_marks()));
        }
        if let Argument::Expression(expression) = template {
            check_template_argument(expression)?;
        }
        let start = self.diagnostics.len();
        let value = self.argument_value(template, locals);
        if self.has_failed_since(start) {
            let errors: Diagnostics = self.diagnostics.split_off(start).into_iter().collect();
            let message = format!("invalid template expression: {}", first_error(scope, &errors));
            return Err(argument(0, message));
        }
        if !value.is_known() {
            return Ok(Value::unknown(Type::String));
        }
        let Some(text) = value.as_str() else {
            return Err(argument(0, "invalid template value: a string is required"));
        };
        let parsed = parse(scope, "<templatestring argument>", text.as_bytes());
        let parsed = parsed.map_err(|errors| {
            argument(0, format!("invalid template: {}", first_error(scope, &errors)))
        })?;
        let rendered = self.render(&parsed, &vars.unmark_deep())?;
        let result = convert(&rendered, &Type::String)
            .map_err(|error| other(format!("invalid template result: {error}")))?;
        Ok(result.with_marks(value.marks() | vars.deep_marks()))
    }

    fn render(&mut self, template: &Expression, vars: &Value) -> Result<Value> {
        let empty = BTreeMap::new();
        let variables = match (vars.kind(), vars.ty()) {
            (Kind::Map(_, elements), _) => &***elements,
            (Kind::Object(elements), _) => &***elements,
            (_, Type::Map(_) | Type::Object(_)) => &empty,
            _ => return Err(argument(1, "invalid vars value: must be a map")),
        };
        if let Some(name) = variables.keys().find(|name| !is_identifier(name)) {
            return Err(argument(
                1,
                format!(
                    "invalid template variable name {name:?}: must start with a letter, followed by zero or more letters, digits, and underscores"
                ),
            ));
        }
        let Some(scope) = self.scope else { return Ok(Value::dynamic()) };
        for traversal in traversals_in(template) {
            if !variables.contains_key(&traversal.root) {
                return Err(argument(
                    1,
                    format!(
                        "vars map does not contain key {:?}, referenced at {}",
                        traversal.root,
                        scope.sources().range(traversal.root_span)
                    ),
                ));
            }
        }
        let start = self.diagnostics.len();
        let frame = Frame::new(Binding::Closed(variables), Locals::Outermost);
        self.template_depth += 1;
        self.attempts += 1;
        let value = self.evaluate(template, Locals::Within(&frame));
        self.attempts -= 1;
        self.template_depth -= 1;
        if self.has_failed_since(start) {
            let errors: Diagnostics = self.diagnostics.split_off(start).into_iter().collect();
            return Err(other(first_error(scope, &errors)));
        }
        Ok(value)
    }
}

fn parse(
    scope: &dyn Scope,
    name: &str,
    text: &[u8],
) -> std::result::Result<Expression, Diagnostics> {
    let file = scope.sources().add(name, text);
    let (template, errors) = parse_template(scope.sources(), file, text, 0);
    if errors.has_errors() { Err(errors) } else { Ok(template) }
}

/// An error as text, as a function's error has to be.
fn first_error(scope: &dyn Scope, errors: &Diagnostics) -> String {
    let Some(first) = errors.iter().find(|error| error.is_error()) else {
        return "no diagnostics".into();
    };
    let place = first.subject.map_or_else(
        || "<unknown>".to_owned(),
        |subject| scope.sources().range(subject).to_string(),
    );
    let text = format!("{place}: {}; {}", first.summary, first.detail);
    match errors.len() {
        1 => text,
        more => format!("{text}, and {} other diagnostic(s)", more - 1),
    }
}

/// Refuses what looks like a template written in place, which needs no function.
fn check_template_argument(expression: &Expression) -> Result<()> {
    let detail = match &expression.kind {
        ExpressionKind::TemplateWrap(_) => {
            "templatestring is only for rendering templates retrieved dynamically from elsewhere; to treat the inner expression as template syntax, write the reference expression directly without any template interpolation syntax"
        }
        ExpressionKind::Template(_) => {
            "templatestring is only for rendering templates retrieved dynamically from elsewhere, and so does not support providing a literal template; consider using a template string expression instead"
        }
        _ if is_reference(expression) => return Ok(()),
        _ => {
            "must be a direct reference to a single string from elsewhere, containing valid Terraform template syntax"
        }
    };
    Err(argument(0, format!("invalid template expression: {detail}")))
}

fn is_reference(expression: &Expression) -> bool {
    let mut inner = expression;
    loop {
        inner = match &inner.kind {
            ExpressionKind::ScopeTraversal(_) => return true,
            ExpressionKind::RelativeTraversal(relative) => &relative.source,
            ExpressionKind::Index(index) => &index.collection,
            _ => return false,
        };
    }
}

fn read_text(scope: &dyn Scope, name: &str) -> Result<Arc<str>> {
    let context = scope.function_context();
    let Some(file) = crate::functions::lookup("file") else {
        return read_plainly(&context, name);
    };
    match file.call(&context, &[Value::string(name)]) {
        Ok(value) => Ok(value.as_str().unwrap_or_default().into()),
        Err(error) => Err(argument(0, error.to_string())),
    }
}

fn read_plainly(context: &crate::functions::FunctionContext<'_>, name: &str) -> Result<Arc<str>> {
    let path = context.base_directory.join(Path::new(name));
    let bytes = context.files.read(&path).map_err(|error| argument(0, error.to_string()))?;
    String::from_utf8(bytes)
        .map(Arc::from)
        .map_err(|_| argument(0, format!("contents of {name:?} are not valid UTF-8")))
}
