/// What is known about a value beside the value itself: it must not be shown, or must not be kept.
///
/// Marks are a small set; operations give the union of their operands' marks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Marks(u8);

impl Marks {
    /// No mark.
    pub const NONE: Marks = Marks(0);
    /// Must not be shown to a person or written to a log.
    pub const SENSITIVE: Marks = Marks(1);
    /// Must not be stored in a plan or a record.
    pub const EPHEMERAL: Marks = Marks(2);

    /// Whether no mark is set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// The marks of both.
    #[must_use]
    pub const fn union(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
    /// The marks that both have.
    #[must_use]
    pub const fn intersection(self, other: Marks) -> Marks {
        Marks(self.0 & other.0)
    }
    /// The marks of this set that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Marks) -> Marks {
        Marks(self.0 & !other.0)
    }
    /// Whether all marks of `other` are set here.
    pub const fn contains(self, other: Marks) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether the sensitive mark is set.
    pub const fn is_sensitive(self) -> bool {
        self.contains(Marks::SENSITIVE)
    }
    /// Whether the ephemeral mark is set.
    pub const fn is_ephemeral(self) -> bool {
        self.contains(Marks::EPHEMERAL)
    }
}

impl std::ops::BitOr for Marks {
    type Output = Marks;
    fn bitor(self, other: Marks) -> Marks {
        self.union(other)
    }
}

impl std::fmt::Debug for Marks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut set = f.debug_set();
        if self.is_sensitive() {
            set.entry(&"sensitive");
        }
        if self.is_ephemeral() {
            set.entry(&"ephemeral");
        }
        set.finish()
    }
}
