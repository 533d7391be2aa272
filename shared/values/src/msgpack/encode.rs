use super::{REFINED, Result, error, key};
use crate::stack::deep;
use crate::{Bound, Kind, Number, Refinement, Type, Value};
use rmp::encode;

/// Longest prefix of an unknown string that is sent.
const LONGEST_PREFIX: usize = 256;
/// Longest bound of an unknown number that is sent, in bytes: whoever reads takes only so much.
const LONGEST_BOUND: usize = 256;

/// Writes a value of the type; unknowns with their refinements. Marks are dropped. A value of
/// another type is converted.
///
/// # Errors
/// Where the value is not of the type.
pub fn to_msgpack(value: &Value, ty: &Type) -> Result<Vec<u8>> {
    let converted = match crate::convert::convert(value, ty) {
        Ok(v) => v,
        Err(e) => return error(e.with_path()),
    };
    let mut out = Vec::new();
    write(&mut out, &converted, ty)?;
    Ok(out)
}

// Writing into a vector cannot fail; the errors of `rmp` are passed on all the same.
fn io<T, E: std::fmt::Display>(result: std::result::Result<T, E>) -> Result<()> {
    match result {
        Ok(_) => Ok(()),
        Err(e) => error(e.to_string()),
    }
}

fn length(n: usize) -> Result<u32> {
    u32::try_from(n).or_else(|_| error("a collection is too large for MessagePack"))
}

fn write(out: &mut Vec<u8>, value: &Value, ty: &Type) -> Result<()> {
    deep(|| match (value.kind(), ty) {
        (_, Type::Dynamic) if value.ty() != Type::Dynamic => {
            let own = value.ty();
            io(encode::write_array_len(out, 2))?;
            io(encode::write_bin(out, crate::json::type_to_json(&own).as_bytes()))?;
            write(out, value, &own)
        }
        (Kind::Unknown(_, refinement), _) => write_unknown(out, refinement.as_deref()),
        (Kind::Null(_), _) => io(encode::write_nil(out)),
        (Kind::Bool(b), _) => io(encode::write_bool(out, *b)),
        (Kind::Number(n), _) => write_number(out, n),
        (Kind::String(s), _) => io(encode::write_str(out, s)),
        (Kind::List(_, e), Type::List(t)) | (Kind::Set(_, e), Type::Set(t)) => {
            io(encode::write_array_len(out, length(e.len())?))?;
            e.iter().try_for_each(|v| write(out, v, t))
        }
        (Kind::Tuple(e), Type::Tuple(types)) => {
            io(encode::write_array_len(out, length(e.len())?))?;
            e.iter().zip(types.iter()).try_for_each(|(v, t)| write(out, v, t))
        }
        (Kind::Map(_, e), Type::Map(t)) => {
            io(encode::write_map_len(out, length(e.len())?))?;
            e.iter().try_for_each(|(name, v)| {
                io(encode::write_str(out, name))?;
                write(out, v, t)
            })
        }
        (Kind::Object(e), Type::Object(o)) => {
            io(encode::write_map_len(out, length(e.len())?))?;
            e.iter().try_for_each(|(name, v)| {
                io(encode::write_str(out, name))?;
                write(out, v, o.attributes.get(name).unwrap_or(&Type::Dynamic))
            })
        }
        _ => error(crate::convert::mismatch_message(&value.ty(), ty)),
    })
}

fn write_number(out: &mut Vec<u8>, n: &Number) -> Result<()> {
    if let Some(i) = n.to_i64() {
        return io(encode::write_sint(out, i));
    }
    match n.to_f64_exact().filter(|_| !n.is_integer()) {
        Some(f) => io(encode::write_f64(out, f)),
        None => io(encode::write_str(out, &n.to_string())),
    }
}

fn write_unknown(out: &mut Vec<u8>, refinement: Option<&Refinement>) -> Result<()> {
    let mut body = Vec::new();
    let entries = match refinement {
        Some(r) => write_refinement(&mut body, r)?,
        None => 0,
    };
    if entries == 0 {
        out.extend([0xd4, 0, 0]);
        return Ok(());
    }
    // The map's own head is one byte.
    io(encode::write_ext_meta(out, length(body.len() + 1)?, REFINED))?;
    io(encode::write_map_len(out, entries))?;
    out.extend(body);
    Ok(())
}

fn write_refinement(body: &mut Vec<u8>, r: &Refinement) -> Result<u32> {
    let mut entries = 0;
    if r.not_null {
        entries += 1;
        io(encode::write_sint(body, key::NULLNESS))?;
        io(encode::write_bool(body, false))?;
    }
    for (key, bound) in [(key::NUMBER_MIN, &r.number_min), (key::NUMBER_MAX, &r.number_max)] {
        if let Some(Bound { value, inclusive }) = bound {
            let mut number = Vec::new();
            write_number(&mut number, value)?;
            if number.len() > LONGEST_BOUND {
                continue;
            }
            entries += 1;
            io(encode::write_sint(body, key))?;
            io(encode::write_array_len(body, 2))?;
            body.extend(number);
            io(encode::write_bool(body, *inclusive))?;
        }
    }
    if let Some(prefix) = r.string_prefix.as_deref().filter(|p| !p.is_empty()) {
        entries += 1;
        io(encode::write_sint(body, key::STRING_PREFIX))?;
        if prefix.len() > LONGEST_PREFIX {
            let cut = (0..LONGEST_PREFIX).rev().find(|i| prefix.is_char_boundary(*i));
            let shorter = crate::refine::safe_prefix(&prefix[..cut.unwrap_or(0)]);
            io(encode::write_str(body, &shorter))?;
        } else {
            io(encode::write_str(body, prefix))?;
        }
    }
    for (key, bound) in [(key::LENGTH_MIN, r.length_min), (key::LENGTH_MAX, r.length_max)] {
        if let Some(bound) = bound {
            entries += 1;
            io(encode::write_sint(body, key))?;
            io(encode::write_uint(body, bound))?;
        }
    }
    Ok(entries)
}
