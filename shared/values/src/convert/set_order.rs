use crate::Value;

/// Brings the elements of a set into Terraform's order, without repetitions.
pub(crate) fn sort_and_dedup(mut items: Vec<Value>) -> Vec<Value> {
    items.sort();
    items.dedup();
    items
}
