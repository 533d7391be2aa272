use super::{MessagePackError, REFINED, Result, error, key};
use crate::convert::settle_elements;
use crate::stack::deep;
use crate::{Kind, Number, Path, PathStep, Type, Value};
use rmp::Marker;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Longest description of what is known of an unknown value that is read.
const LONGEST_REFINEMENT: usize = 1024;

/// Reads a value of the type. Nesting is bounded by the type and lengths are believed only as far
/// as there are bytes.
///
/// # Errors
/// Where the bytes are not MessagePack or not of the type; the message begins with the path.
pub fn from_msgpack(bytes: &[u8], ty: &Type) -> Result<Value> {
    let mut reader = Reader { rest: bytes };
    let mut path = Vec::new();
    reader.value(&ty.without_optional(), &mut path, 0).map_err(|e| match path.is_empty() {
        true => e,
        false => MessagePackError(format!("{}: {}", Path(path), e.0)),
    })
}

/// Dynamic values in dynamic values are taken this deep.
const DEEPEST_DYNAMIC: usize = 1000;

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(n) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => error("unexpected end of the MessagePack data"),
        }
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N)?;
        bytes.try_into().or_else(|_| error("unexpected end of the MessagePack data"))
    }
    fn peek(&self) -> Result<Marker> {
        match self.rest.first() {
            Some(b) => Ok(Marker::from_u8(*b)),
            None => error("unexpected end of the MessagePack data"),
        }
    }
    fn marker(&mut self) -> Result<Marker> {
        let marker = self.peek()?;
        self.rest = &self.rest[1..];
        Ok(marker)
    }
    fn u8(&mut self) -> Result<usize> {
        Ok(usize::from(self.array::<1>()?[0]))
    }
    fn u16(&mut self) -> Result<usize> {
        Ok(usize::from(u16::from_be_bytes(self.array()?)))
    }
    fn u32(&mut self) -> Result<usize> {
        Ok(u32::from_be_bytes(self.array()?) as usize)
    }

    /// Text or bytes; `None` (and nothing read) where something else stands.
    fn text(&mut self) -> Result<Option<&'a [u8]>> {
        let before = self.rest;
        let length = match self.marker()? {
            Marker::FixStr(n) => usize::from(n),
            Marker::Str8 | Marker::Bin8 => self.u8()?,
            Marker::Str16 | Marker::Bin16 => self.u16()?,
            Marker::Str32 | Marker::Bin32 => self.u32()?,
            _ => {
                self.rest = before;
                return Ok(None);
            }
        };
        self.take(length).map(Some)
    }
    fn string(&mut self, message: &str) -> Result<&'a str> {
        match self.text()?.map(std::str::from_utf8) {
            Some(Ok(s)) => Ok(s),
            _ => error(message),
        }
    }
    /// Length of an array; each element is a byte at least.
    fn array_len(&mut self, message: &str) -> Result<usize> {
        let length = match self.marker()? {
            Marker::FixArray(n) => usize::from(n),
            Marker::Array16 => self.u16()?,
            Marker::Array32 => self.u32()?,
            _ => return error(message),
        };
        self.believable(length)
    }
    fn map_len(&mut self, message: &str) -> Result<usize> {
        let length = match self.marker()? {
            Marker::FixMap(n) => usize::from(n),
            Marker::Map16 => self.u16()?,
            Marker::Map32 => self.u32()?,
            _ => return error(message),
        };
        self.believable(length)
    }
    fn believable(&self, length: usize) -> Result<usize> {
        match length <= self.rest.len() {
            true => Ok(length),
            false => error("a length is claimed that the MessagePack data does not have"),
        }
    }
    fn integer(&mut self) -> Result<Option<i128>> {
        let before = self.rest;
        Ok(Some(match self.marker()? {
            Marker::FixPos(n) => i128::from(n),
            Marker::FixNeg(n) => i128::from(n),
            Marker::U8 => i128::from(u8::from_be_bytes(self.array()?)),
            Marker::U16 => i128::from(u16::from_be_bytes(self.array()?)),
            Marker::U32 => i128::from(u32::from_be_bytes(self.array()?)),
            Marker::U64 => i128::from(u64::from_be_bytes(self.array()?)),
            Marker::I8 => i128::from(i8::from_be_bytes(self.array()?)),
            Marker::I16 => i128::from(i16::from_be_bytes(self.array()?)),
            Marker::I32 => i128::from(i32::from_be_bytes(self.array()?)),
            Marker::I64 => i128::from(i64::from_be_bytes(self.array()?)),
            _ => {
                self.rest = before;
                return Ok(None);
            }
        }))
    }
    fn bool(&mut self, message: &str) -> Result<bool> {
        match self.marker()? {
            Marker::True => Ok(true),
            Marker::False => Ok(false),
            _ => error(message),
        }
    }
    fn number(&mut self) -> Result<Number> {
        const MESSAGE: &str = "number is required";
        if let Some(i) = self.integer()? {
            if let Ok(i) = i64::try_from(i) {
                return Ok(i.into());
            }
            return match u64::try_from(i) {
                Ok(u) => Ok(u.into()),
                Err(_) => error(MESSAGE),
            };
        }
        let float = match self.peek()? {
            Marker::F32 => {
                self.marker()?;
                f64::from(f32::from_be_bytes(self.array()?))
            }
            Marker::F64 => {
                self.marker()?;
                f64::from_be_bytes(self.array()?)
            }
            _ => {
                let text = self.string(MESSAGE)?;
                return Number::parse(text).map_or_else(|| error(MESSAGE), Ok);
            }
        };
        Number::from_f64(float).map_or_else(|| error(MESSAGE), Ok)
    }

    /// The body of an extension and its type, where one stands.
    fn extension(&mut self) -> Result<Option<(i8, &'a [u8])>> {
        let before = self.rest;
        let length = match self.marker()? {
            Marker::FixExt1 => 1,
            Marker::FixExt2 => 2,
            Marker::FixExt4 => 4,
            Marker::FixExt8 => 8,
            Marker::FixExt16 => 16,
            Marker::Ext8 => self.u8()?,
            Marker::Ext16 => self.u16()?,
            Marker::Ext32 => self.u32()?,
            _ => {
                self.rest = before;
                return Ok(None);
            }
        };
        let ty = i8::from_be_bytes(self.array()?);
        Ok(Some((ty, self.take(length)?)))
    }

    /// Where it fails, `path` is left as it was at the failure.
    fn value(&mut self, ty: &Type, path: &mut Vec<PathStep>, dynamic: usize) -> Result<Value> {
        if let Some((kind, body)) = self.extension()? {
            return unknown(kind, body, ty);
        }
        if self.peek()? == Marker::Null {
            self.marker()?;
            return Ok(Value::null(ty.without_optional()));
        }
        deep(|| match ty {
            Type::Dynamic => self.dynamic(path, dynamic),
            Type::Bool => self.bool("bool is required").map(Value::bool),
            Type::Number => self.number().map(Value::number),
            Type::String => match self.text()? {
                Some(bytes) => Ok(Value::string(String::from_utf8_lossy(bytes))),
                None => error("string is required"),
            },
            Type::List(t) | Type::Set(t) => {
                let list = matches!(ty, Type::List(_));
                let length = self.array_len(match list {
                    true => "a list is required",
                    false => "a set is required",
                })?;
                let mut items = Vec::new();
                for i in 0..length {
                    path.push(PathStep::Index(i));
                    items.push(self.value(t, path, dynamic)?);
                    path.pop();
                }
                match settle_elements(t, items.iter_mut()) {
                    Some(element) if list => Ok(Value::list(element, items)),
                    Some(element) => Ok(Value::set(element, items)),
                    None => error("all elements must have the same type"),
                }
            }
            Type::Map(t) => {
                let length = self.map_len("a map is required")?;
                let mut items = BTreeMap::new();
                for _ in 0..length {
                    let name = normal(self.string("non-string key in map")?);
                    path.push(PathStep::Key(name.clone()));
                    items.insert(name, self.value(t, path, dynamic)?);
                    path.pop();
                }
                match settle_elements(t, items.values_mut()) {
                    Some(element) => Ok(Value::map(element, items)),
                    None => error("all elements must have the same type"),
                }
            }
            Type::Tuple(types) => {
                let length = self.array_len("a tuple is required")?;
                if length != types.len() {
                    return error(format!("a tuple of length {} is required", types.len()));
                }
                let mut items = Vec::with_capacity(length);
                for (i, t) in types.iter().enumerate() {
                    path.push(PathStep::Index(i));
                    items.push(self.value(t, path, dynamic)?);
                    path.pop();
                }
                Ok(Value::tuple(items))
            }
            Type::Object(o) => {
                let length = self.map_len("an object is required")?;
                let mut items: BTreeMap<Arc<str>, Value> = BTreeMap::new();
                for _ in 0..length {
                    let name = self.string("all keys must be strings")?;
                    let Some((name, t)) = o.attributes.get_key_value(name) else {
                        path.push(PathStep::Attribute(name.into()));
                        return error("unsupported attribute");
                    };
                    path.push(PathStep::Attribute(name.clone()));
                    items.insert(name.clone(), self.value(t, path, dynamic)?);
                    path.pop();
                }
                if items.len() != o.attributes.len() {
                    return error(format!(
                        "an object with {} attributes is required ({length} given)",
                        o.attributes.len(),
                    ));
                }
                Ok(Value::object(items))
            }
        })
    }

    fn dynamic(&mut self, path: &mut Vec<PathStep>, depth: usize) -> Result<Value> {
        const MESSAGE: &str = "dynamic value array must have exactly two elements";
        if depth >= DEEPEST_DYNAMIC {
            return error("dynamic values are nested too deeply");
        }
        if self.array_len(MESSAGE)? != 2 {
            return error(MESSAGE);
        }
        let Some(json) = self.text()? else {
            return error("the type of a dynamic value is required");
        };
        match crate::json::type_from_json(json) {
            Ok(ty) => self.value(&ty.without_optional(), path, depth + 1),
            Err(e) => error(format!("the type of a dynamic value is not one: {e}")),
        }
    }
}

fn normal(name: &str) -> Arc<str> {
    match Value::string(name).kind() {
        Kind::String(s) => s.clone(),
        _ => Arc::from(name),
    }
}

fn unknown(kind: i8, body: &[u8], ty: &Type) -> Result<Value> {
    let ty = ty.without_optional();
    if body.len() <= 1 {
        return Ok(Value::unknown(ty));
    }
    if kind != REFINED {
        return error(format!("unsupported extension type {kind:#04x} with length {}", body.len()));
    }
    if body.len() > LONGEST_REFINEMENT {
        return error("oversize unknown value refinement");
    }
    if ty == Type::Dynamic {
        return Ok(Value::dynamic());
    }
    let mut r = Reader { rest: body };
    let entries = r.map_len("an unknown value's refinement must be a map")?;
    let mut refiner = Value::unknown(ty.clone()).refine();
    for _ in 0..entries {
        let Some(key) = r.integer()? else {
            return error("a key of an unknown value's refinement must be an integer");
        };
        let fits = match i64::try_from(key).unwrap_or_default() {
            key::STRING_PREFIX => ty == Type::String,
            key::NUMBER_MIN | key::NUMBER_MAX => ty == Type::Number,
            key::LENGTH_MIN | key::LENGTH_MAX => ty.is_collection(),
            _ => true,
        };
        if !fits {
            return error(format!("an unknown {} cannot be refined by {key}", ty.friendly_name()));
        }
        refiner = match i64::try_from(key).unwrap_or_default() {
            key::NULLNESS => match r.bool("a null refinement must be a boolean")? {
                true => refiner.null(),
                false => refiner.not_null(),
            },
            key::STRING_PREFIX => {
                refiner.string_prefix_full(r.string("a string prefix must be a string")?)
            }
            key::LENGTH_MIN => refiner.length_min(r.length()?),
            key::LENGTH_MAX => refiner.length_max(r.length()?),
            bound @ (key::NUMBER_MIN | key::NUMBER_MAX) => {
                const MESSAGE: &str = "a number bound must be a [number, bool] array";
                if r.array_len(MESSAGE)? != 2 {
                    return error(MESSAGE);
                }
                let number = r.number()?;
                let inclusive = r.bool(MESSAGE)?;
                match bound {
                    key::NUMBER_MIN => refiner.number_min(&number, inclusive),
                    _ => refiner.number_max(&number, inclusive),
                }
            }
            // Later versions may know more; what follows cannot be skipped without reading it.
            _ => {
                r.skip()?;
                refiner
            }
        };
    }
    refiner.try_finish().or_else(|e| error(format!("an unknown value's refinement: {e}")))
}

impl Reader<'_> {
    fn length(&mut self) -> Result<u64> {
        match self.integer()?.map(u64::try_from) {
            Some(Ok(n)) => Ok(n),
            _ => error("a length bound must be a whole number"),
        }
    }

    /// Passes over one value of any kind.
    fn skip(&mut self) -> Result<()> {
        let mut left = 1usize;
        while left > 0 {
            left -= 1;
            if self.text()?.is_some() || self.extension()?.is_some() || self.integer()?.is_some() {
                continue;
            }
            match self.peek()? {
                Marker::F32 => self.take(5).map(|_| ())?,
                Marker::F64 => self.take(9).map(|_| ())?,
                Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
                    left = left.saturating_add(self.array_len("an array")?);
                }
                Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => {
                    left = left.saturating_add(self.map_len("a map")?.saturating_mul(2));
                }
                _ => self.marker().map(|_| ())?,
            }
        }
        Ok(())
    }
}
