//! Trees as text, so that a test reads like the grammar.

use language::syntax::ast::{
    Expression, ExpressionKind, IndexKey, Literal, TemplatePart, TraversalStep, UnaryOperator,
};

/// The tree in prefix notation.
pub(super) fn shape(expression: &Expression) -> String {
    match &expression.kind {
        ExpressionKind::Literal(Literal::Number(text)) => text.to_string(),
        ExpressionKind::Literal(Literal::Bool(value)) => value.to_string(),
        ExpressionKind::Literal(Literal::Null) => "null".into(),
        ExpressionKind::Template(template) => {
            let parts: Vec<_> = template.parts.iter().map(part).collect();
            format!("(template {})", parts.join(" "))
        }
        ExpressionKind::TemplateWrap(inner) => format!("(wrap {})", shape(inner)),
        ExpressionKind::ScopeTraversal(traversal) => {
            format!("{}{}", traversal.root, steps(&traversal.steps))
        }
        ExpressionKind::RelativeTraversal(relative) => {
            format!("(from {} {})", shape(&relative.source), steps(&relative.steps))
        }
        ExpressionKind::Index(index) => {
            format!("(index {} {})", shape(&index.collection), shape(&index.key))
        }
        ExpressionKind::Splat(splat) => {
            format!("({:?} {} {})", splat.form, shape(&splat.source), shape(&splat.each))
        }
        ExpressionKind::SplatItem => "@".into(),
        ExpressionKind::Conditional(conditional) => format!(
            "(if {} {} {})",
            shape(&conditional.condition),
            shape(&conditional.then),
            shape(&conditional.otherwise)
        ),
        ExpressionKind::Binary(binary) => format!(
            "({} {} {})",
            binary.operator.symbol(),
            shape(&binary.left),
            shape(&binary.right)
        ),
        ExpressionKind::Unary(unary) => {
            let symbol = match unary.operator {
                UnaryOperator::Negate => "neg",
                UnaryOperator::Not => "not",
            };
            format!("({symbol} {})", shape(&unary.operand))
        }
        ExpressionKind::FunctionCall(call) => {
            let expand = if call.expand_final { "..." } else { "" };
            format!("(call {}{}{expand})", call.name, list(&call.arguments))
        }
        ExpressionKind::Tuple(items) => format!("(tuple{})", list(items)),
        ExpressionKind::Object(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|item| {
                    let key = match item.key.literal_name() {
                        Some(name) => format!("'{name}"),
                        None => shape(&item.key.expression),
                    };
                    format!(" {key}={}", shape(&item.value))
                })
                .collect();
            format!("(object{})", items.concat())
        }
        ExpressionKind::ForTuple(parts) => format!(
            "(for {}{} {} {}{})",
            parts.key_variable.as_ref().map_or_else(String::new, |key| format!("{key},")),
            parts.value_variable,
            shape(&parts.collection),
            shape(&parts.value),
            parts.condition.as_ref().map_or_else(String::new, |it| format!(" if {}", shape(it))),
        ),
        ExpressionKind::ForObject(parts) => format!(
            "(for {}{} {} {} => {}{}{})",
            parts.key_variable.as_ref().map_or_else(String::new, |key| format!("{key},")),
            parts.value_variable,
            shape(&parts.collection),
            shape(&parts.key),
            shape(&parts.value),
            if parts.grouping { "..." } else { "" },
            parts.condition.as_ref().map_or_else(String::new, |it| format!(" if {}", shape(it))),
        ),
        ExpressionKind::Parentheses(inner) => format!("[{}]", shape(inner)),
        ExpressionKind::Invalid => "!".into(),
        ExpressionKind::JsonString(string) => shape(&string.template),
    }
}

fn list(items: &[Expression]) -> String {
    items.iter().map(|item| format!(" {}", shape(item))).collect()
}

fn part(part: &TemplatePart) -> String {
    match part {
        TemplatePart::Literal { text, .. } => format!("{text:?}"),
        TemplatePart::Interpolation(expression) => shape(expression),
        TemplatePart::If(directive) => format!(
            "(if {} {} {})",
            shape(&directive.condition),
            shape(&directive.then),
            shape(&directive.otherwise)
        ),
        TemplatePart::For(directive) => format!(
            "(for {}{} {} {})",
            directive.key_variable.as_ref().map_or_else(String::new, |key| format!("{key},")),
            directive.value_variable,
            shape(&directive.collection),
            shape(&directive.body)
        ),
    }
}

fn steps(steps: &[TraversalStep]) -> String {
    steps
        .iter()
        .map(|step| match step {
            TraversalStep::Index { key: IndexKey::Invalid, .. } => "[!]".to_owned(),
            step => step.to_string(),
        })
        .collect()
}
