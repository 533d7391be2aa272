//! Decodes bodies by schema.

use values::Value;
use values::schema::Block;

use crate::evaluate::Evaluator;
use crate::syntax::ast::Body;

pub(crate) fn body(evaluator: &mut Evaluator<'_>, body: &Body, schema: &Block) -> Value {
    let _ = (evaluator, body);
    Value::unknown(schema.implied_type())
}
