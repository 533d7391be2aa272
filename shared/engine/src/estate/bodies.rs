//! What is written of instances and outputs: the bodies of new records, and objects put in place of others.

use super::{Estate, EstateError};
use crate::identifiers::{WriteId, hexadecimal};
use crate::record::body::{
    BodyError, FORMAT, InstanceBody, ObjectBody, OutputBody, RecordKind, UnknownFields, WrittenBy,
    encode,
};
use crate::state::InstanceState;
use bytes::Bytes;
use records::Key;
use std::collections::BTreeMap;
use values::Value;
use values::address::ResourceInstance;

impl Estate {
    /// A record that says nothing of an instance yet.
    pub(crate) fn shell(&self, address: &ResourceInstance, by: WrittenBy) -> InstanceBody {
        InstanceBody {
            format: FORMAT,
            address: address.to_string(),
            kind: RecordKind::Shell,
            revision: String::new(),
            write_id: WriteId::new(&*self.random),
            written_at: self.clock.seconds(),
            written_by: by,
            object: None,
            deposed: BTreeMap::new(),
            moved_from: None,
            claim: None,
            doubt: None,
            unknown: UnknownFields::new(),
        }
    }

    /// Puts an instance's objects into a record, in place of those that are there, with a revision of their own.
    pub(crate) fn put_objects(
        &self,
        key: &Key,
        body: &mut InstanceBody,
        state: &InstanceState,
    ) -> Result<(), BodyError> {
        let object = |object| ObjectBody::from_object(key, object);
        let deposed = state.deposed.iter().map(|(key, o)| Ok((key.to_string(), object(o)?)));
        body.object = state.current.as_ref().map(object).transpose()?;
        body.deposed = deposed.collect::<Result<_, BodyError>>()?;
        let live = body.object.is_some() || !body.deposed.is_empty();
        (body.kind, body.revision) = match (live, body.kind) {
            (true, _) => (RecordKind::Live, hexadecimal(&*self.random)),
            (false, RecordKind::Live) => (RecordKind::Tombstone, String::new()),
            (false, kind) => (kind, String::new()),
        };
        Ok(())
    }

    /// The record of an output.
    ///
    /// # Errors
    /// Where its value is ephemeral or not known.
    pub(super) fn output_body(
        &self,
        name: &str,
        value: &Value,
        by: &WrittenBy,
    ) -> Result<(Key, Bytes), EstateError> {
        let key = self.keys.output(name)?;
        let (json, ty) = OutputBody::value_and_type(&key, value)?;
        let body = OutputBody {
            format: FORMAT,
            name: name.to_owned(),
            write_id: WriteId::new(&*self.random),
            written_by: by.clone(),
            value: json,
            ty,
            sensitive: value.deep_marks().is_sensitive(),
            unknown: UnknownFields::new(),
        };
        let bytes = encode(&key, &body)?;
        Ok((key, bytes))
    }
}
