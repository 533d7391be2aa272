use flate2::{Compression, FlushCompress};
use std::io;

/// Compresses as `base64gzip` does: no name, no time, no operating system in the header, and a flush
/// before the end.
pub(super) fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut deflate = flate2::Compress::new(Compression::default(), false);
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    out.reserve(bytes.len() / 2 + 64);
    for flush in [FlushCompress::Sync, FlushCompress::Finish] {
        let mut rest = match flush {
            FlushCompress::Sync => bytes,
            _ => &[],
        };
        loop {
            if out.capacity() - out.len() < 64 {
                out.reserve(out.len());
            }
            let before = deflate.total_in();
            let room = out.capacity() - out.len();
            let written = deflate.total_out();
            let status = deflate.compress_vec(rest, &mut out, flush).map_err(io::Error::other)?;
            let consumed = usize::try_from(deflate.total_in() - before).unwrap_or(rest.len());
            rest = rest.get(consumed..).unwrap_or_default();
            let filled = usize::try_from(deflate.total_out() - written).unwrap_or(0);
            let done = match status {
                flate2::Status::StreamEnd => true,
                _ => rest.is_empty() && filled < room && !matches!(flush, FlushCompress::Finish),
            };
            if done {
                break;
            }
        }
    }
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    out.extend(crc.sum().to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    Ok(out)
}
