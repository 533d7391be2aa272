//! What a body means, as text: the same for two spellings that layout may exchange.

use std::fmt::Write;

use language::syntax::ast::{
    Body, Expression, ExpressionKind, Literal, TemplatePart, TraversalStep, UnaryOperator,
    with_stack,
};

/// The body without places, parentheses, `"${…}"` around a whole value, quotes of labels, and types of variables, which
/// layout brings into their present form.
pub(crate) fn meaning(body: &Body) -> String {
    let mut meaning = Meaning { text: String::new() };
    meaning.body(body, &[]);
    meaning.text
}

struct Meaning {
    text: String,
}

impl Meaning {
    fn write(&mut self, what: impl std::fmt::Display) {
        let Ok(()) = write!(self.text, "{what}") else { unreachable!("a text takes everything") };
    }

    /// `within` are the types of the blocks around the body.
    fn body(&mut self, body: &Body, within: &[&str]) {
        for attribute in &body.attributes {
            self.write(format_args!("{} = ", attribute.name));
            if within != ["variable"] || &*attribute.name != "type" {
                self.expression(&attribute.expression);
            }
            self.write("\n");
        }
        for block in &body.blocks {
            self.write(&block.type_name);
            for label in &block.labels {
                self.write(format_args!(" {:?}", label.text));
            }
            self.write(" {\n");
            let inside = [within, &[&*block.type_name]].concat();
            with_stack(|| self.body(&block.body, &inside[..inside.len().min(2)]));
            self.write("}\n");
        }
    }

    fn expression(&mut self, expression: &Expression) {
        with_stack(|| self.kind(&expression.kind));
    }

    fn kind(&mut self, kind: &ExpressionKind) {
        match kind {
            ExpressionKind::Parentheses(inner) | ExpressionKind::TemplateWrap(inner) => {
                return self.expression(inner);
            }
            ExpressionKind::Literal(Literal::Number(digits)) => return self.write(digits),
            ExpressionKind::Literal(Literal::Bool(value)) => return self.write(value),
            ExpressionKind::Literal(Literal::Null) => return self.write("null"),
            ExpressionKind::SplatItem => return self.write("@"),
            ExpressionKind::Invalid => return self.write("!"),
            ExpressionKind::JsonString(string) => return self.expression(&string.template),
            _ => {}
        }
        self.write("(");
        match kind {
            ExpressionKind::Template(template) => {
                self.write("template");
                template.parts.iter().for_each(|part| self.part(part));
            }
            ExpressionKind::ScopeTraversal(traversal) => {
                self.write(&traversal.root);
                self.steps(&traversal.steps);
            }
            ExpressionKind::RelativeTraversal(relative) => {
                self.expression(&relative.source);
                self.steps(&relative.steps);
            }
            ExpressionKind::Index(index) => {
                self.write("index ");
                self.all([&index.collection, &index.key]);
            }
            ExpressionKind::Splat(splat) => {
                self.write(format_args!("{:?} ", splat.form));
                self.all([&splat.source, &splat.each]);
            }
            ExpressionKind::Conditional(conditional) => {
                self.write("if ");
                self.all([&conditional.condition, &conditional.then, &conditional.otherwise]);
            }
            ExpressionKind::Binary(binary) => {
                self.write(format_args!("{} ", binary.operator.symbol()));
                self.all([&binary.left, &binary.right]);
            }
            ExpressionKind::Unary(unary) => {
                self.write(match unary.operator {
                    UnaryOperator::Negate => "neg ",
                    UnaryOperator::Not => "not ",
                });
                self.expression(&unary.operand);
            }
            ExpressionKind::FunctionCall(call) => {
                self.write(format_args!("call {} ", call.name));
                self.all(&call.arguments);
                self.write(if call.expand_final { "..." } else { "" });
            }
            ExpressionKind::Tuple(items) => {
                self.write("tuple ");
                self.all(items.iter());
            }
            ExpressionKind::Object(items) => {
                self.write("object ");
                for item in items.iter() {
                    match item.key.literal_name() {
                        Some(name) => self.write(format_args!("'{name}")),
                        None => self.expression(&item.key.expression),
                    }
                    self.write("=");
                    self.expression(&item.value);
                }
            }
            ExpressionKind::ForTuple(parts) => {
                self.write(format_args!("for {:?},{}: ", parts.key_variable, parts.value_variable));
                self.all([&parts.collection, &parts.value]);
                self.all(&parts.condition);
            }
            ExpressionKind::ForObject(parts) => {
                self.write(format_args!("for {:?},{}: ", parts.key_variable, parts.value_variable));
                self.all([&parts.collection, &parts.key, &parts.value]);
                self.write(if parts.grouping { "..." } else { "" });
                self.all(&parts.condition);
            }
            _ => {}
        }
        self.write(")");
    }

    fn all<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expression>) {
        for expression in expressions {
            self.expression(expression);
            self.write(";");
        }
    }

    fn part(&mut self, part: &TemplatePart) {
        match part {
            TemplatePart::Literal { text, .. } => self.write(format_args!(" {text:?}")),
            TemplatePart::Interpolation(expression) => self.expression(expression),
            TemplatePart::If(directive) => {
                self.write("%if ");
                self.all([&directive.condition, &directive.then, &directive.otherwise]);
            }
            TemplatePart::For(directive) => {
                let (key, value) = (&directive.key_variable, &directive.value_variable);
                self.write(format_args!("%for {key:?},{value}: "));
                self.all([&directive.collection, &directive.body]);
            }
        }
    }

    fn steps(&mut self, steps: &[TraversalStep]) {
        steps.iter().for_each(|step| self.write(step));
    }
}
