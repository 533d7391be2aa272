//! Structural equality, order and hash of values, and how they look in tests.

use super::{Elements, Kind, Value, deep};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Value {}
impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Value {
    fn cmp(&self, other: &Value) -> std::cmp::Ordering {
        self.marks.cmp(&other.marks).then_with(|| self.kind.cmp(&other.kind))
    }
}
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.marks.hash(state);
        self.kind.hash(state);
    }
}

impl Kind {
    fn rank(&self) -> u8 {
        match self {
            Kind::Null(_) => 0,
            Kind::Bool(_) => 1,
            Kind::Number(_) => 2,
            Kind::String(_) => 3,
            Kind::List(..) => 4,
            Kind::Set(..) => 5,
            Kind::Map(..) => 6,
            Kind::Tuple(_) => 7,
            Kind::Object(_) => 8,
            Kind::Unknown(..) => 9,
        }
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Kind {}
impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Kind) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Kind {
    fn cmp(&self, other: &Kind) -> std::cmp::Ordering {
        use Kind::*;
        fn shared<C: Ord + Default>(
            a: &Arc<Elements<C>>,
            b: &Arc<Elements<C>>,
        ) -> std::cmp::Ordering {
            match Arc::ptr_eq(a, b) {
                true => std::cmp::Ordering::Equal,
                false => deep(|| a.items.cmp(&b.items)),
            }
        }
        match (self, other) {
            (Null(a), Null(b)) => a.cmp(b),
            (Unknown(a, ra), Unknown(b, rb)) => a.cmp(b).then_with(|| ra.cmp(rb)),
            (Bool(a), Bool(b)) => a.cmp(b),
            (Number(a), Number(b)) => a.cmp(b),
            (String(a), String(b)) => a.cmp(b),
            (List(ta, a), List(tb, b)) | (Set(ta, a), Set(tb, b)) => {
                ta.cmp(tb).then_with(|| shared(a, b))
            }
            (Map(ta, a), Map(tb, b)) => ta.cmp(tb).then_with(|| shared(a, b)),
            (Tuple(a), Tuple(b)) => shared(a, b),
            (Object(a), Object(b)) => shared(a, b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}
impl Hash for Kind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Kind::Null(t) => t.hash(state),
            Kind::Unknown(t, r) => (t, r).hash(state),
            Kind::Bool(b) => b.hash(state),
            Kind::Number(n) => n.hash(state),
            Kind::String(s) => s.hash(state),
            Kind::List(t, e) | Kind::Set(t, e) => {
                t.hash(state);
                deep(|| e.items.hash(state));
            }
            Kind::Map(t, e) => {
                t.hash(state);
                deep(|| e.items.hash(state));
            }
            Kind::Tuple(e) => deep(|| e.items.hash(state)),
            Kind::Object(e) => deep(|| e.items.hash(state)),
        }
    }
}

/// For tests and internal errors only: sensitive content is shown as `(sensitive)`.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.marks.is_sensitive() {
            return f.write_str("(sensitive)");
        }
        match &self.kind {
            Kind::Null(t) => write!(f, "null({t})"),
            Kind::Unknown(t, None) => write!(f, "unknown({t})"),
            Kind::Unknown(t, Some(r)) => write!(f, "unknown({t}, {r:?})"),
            Kind::Bool(b) => write!(f, "{b}"),
            Kind::Number(n) => write!(f, "{n}"),
            Kind::String(s) => write!(f, "{s:?}"),
            Kind::List(_, e) => f.debug_list().entries(e.iter()).finish(),
            Kind::Set(_, e) => {
                f.write_str("set")?;
                f.debug_list().entries(e.iter()).finish()
            }
            Kind::Map(_, e) => {
                f.write_str("map")?;
                f.debug_map().entries(e.iter()).finish()
            }
            Kind::Tuple(e) => {
                f.write_str("tuple")?;
                f.debug_list().entries(e.iter()).finish()
            }
            Kind::Object(e) => f.debug_map().entries(e.iter()).finish(),
        }
    }
}
