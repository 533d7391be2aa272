//! Functions over IP address ranges in CIDR notation.

use super::FunctionContext;
use super::arguments::{integer, number, text};
use super::call::{CallError, Function, Parameter, ParameterType};
use dashu_int::IBig;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use values::{Type, Value};

const PREFIX: Parameter =
    Parameter::string("prefix").described("An address range in CIDR notation: address/bits.");

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "cidrhost",
        "The address of a host in an address range.",
        &[
            PREFIX,
            Parameter::number("hostnum")
                .described("A whole number that fits the host's bits; negative from the end."),
        ],
        ParameterType::String,
        cidrhost,
    ),
    Function::new(
        "cidrnetmask",
        "The netmask of an IPv4 address range.",
        &[PREFIX],
        ParameterType::String,
        cidrnetmask,
    ),
    Function::new(
        "cidrsubnet",
        "A subnet of an address range, by its number.",
        &[
            PREFIX,
            Parameter::number("newbits").described("How many bits the prefix is extended by."),
            Parameter::number("netnum").described("A whole number that fits these bits."),
        ],
        ParameterType::String,
        cidrsubnet,
    ),
    Function::new(
        "cidrsubnets",
        "Consecutive subnets of an address range.",
        &[PREFIX],
        ParameterType::ListOfString,
        cidrsubnets,
    )
    .variadic(&Parameter::number("newbits").described("How many bits each extends the prefix by.")),
];

/// An address range. The address of version 4 stands in the low 32 bits.
#[derive(Clone, Copy)]
struct Network {
    address: u128,
    bits: u32,
    /// 32 or 128.
    width: u32,
}

impl Network {
    /// Parses CIDR notation; host bits are cleared. Decimal octets may have leading zeros and are
    /// decimal all the same, as they have always been in Terraform.
    fn parse(text: &str) -> Option<Network> {
        let (address, bits) = text.split_once('/')?;
        let plain = !bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit());
        let bits: u32 = bits.parse().ok().filter(|_| plain)?;
        let (address, width) = match parse_v4(address) {
            Some(v4) => (u128::from(v4), 32),
            None => (u128::from(address.parse::<Ipv6Addr>().ok()?), 128),
        };
        (bits <= width).then(|| Network { address, bits, width }.cleared())
    }
    /// The mask of the host's bits.
    fn host_mask(self) -> u128 {
        let host = self.width - self.bits;
        u128::MAX.checked_shr(128 - host).unwrap_or(0)
    }
    fn cleared(self) -> Network {
        Network { address: self.address & !self.host_mask(), ..self }
    }
    fn contains(self, address: u128) -> bool {
        address & !self.host_mask() == self.address
    }
    /// Whether it is a range of version 4 in the notation of version 6 (`::ffff:10.0.0.0/112`).
    fn is_mapped(self) -> bool {
        self.width == 128 && Ipv6Addr::from(self.address).to_ipv4_mapped().is_some()
    }
    /// An address as the bits of a number, with what stands in front of it if the number is negative; none
    /// where it is too long.
    fn with_bits(self, bits: IBig) -> Option<u128> {
        let address = u128::try_from(&size(IBig::from(self.address) | bits)).ok()?;
        (self.width == 128 || address <= u128::from(u32::MAX)).then_some(address)
    }
    fn show(self, address: u128) -> String {
        match self.width {
            32 => Ipv4Addr::from(address as u32).to_string(),
            _ => show_v6(Ipv6Addr::from(address)),
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = if self.is_mapped() { self.bits.saturating_sub(96) } else { self.bits };
        write!(f, "{}/{bits}", self.show(self.address))
    }
}

fn parse_v4(text: &str) -> Option<u32> {
    let mut octets = text.split('.');
    let mut address = 0u32;
    for _ in 0..4 {
        let octet = octets.next()?;
        if octet.is_empty() || octet.len() > 16 || !octet.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let octet: u64 = octet.parse().ok()?;
        address = address << 8 | u32::from(u8::try_from(octet).ok()?);
    }
    octets.next().is_none().then_some(address)
}

/// Without the dotted form that Rust gives to mapped addresses.
fn show_v6(address: Ipv6Addr) -> String {
    let Some(mapped) = address.to_ipv4_mapped() else { return address.to_string() };
    mapped.to_string()
}

fn parse(a: &[Value]) -> Result<Network, CallError> {
    Network::parse(text(a, 0)).ok_or_else(|| {
        CallError::other(format!("invalid CIDR expression: invalid CIDR address: {}", text(a, 0)))
    })
}

/// An integer of any size.
fn whole(a: &[Value], index: usize) -> Result<IBig, CallError> {
    let whole = number(a, index)?.to_integer();
    whole.ok_or_else(|| CallError::other("value must be a whole number"))
}

fn size(number: IBig) -> IBig {
    if number < IBig::ZERO { -number } else { number }
}

fn cidrhost(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let given = whole(a, 1)?;
    let network = parse(a)?;
    let most = IBig::from(network.host_mask());
    // From the end, -1 is the last host.
    let host = if given < IBig::ZERO { &most + IBig::ONE + given } else { given };
    if host < IBig::ZERO || host > most {
        return Err(CallError::other(format!(
            "prefix of {} does not accommodate a host numbered {host}",
            network.bits
        )));
    }
    // The host of a mapped range is put where Terraform puts it: 96 bits too far left.
    let host = if network.is_mapped() { host << 96 } else { host };
    let address = network.with_bits(host).ok_or_else(|| CallError::other("no such address"))?;
    Ok(Value::string(network.show(address)))
}

fn cidrnetmask(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let network = parse(a)?;
    if network.width != 32 && !network.is_mapped() {
        let shown = text(a, 0);
        let message = format!("IPv6 addresses cannot have a netmask: {shown}");
        return Err(CallError::other(message));
    }
    let all = if network.width == 32 { u128::from(u32::MAX) } else { u128::MAX };
    Ok(Value::string(network.show(all & !network.host_mask())))
}

fn cidrsubnet(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let extension = integer(a, 1)?;
    let subnet = whole(a, 2)?;
    let network = parse(a)?;
    let bits = i64::from(network.bits).saturating_add(extension);
    let Some(bits) = u32::try_from(bits).ok().filter(|b| *b <= network.width) else {
        return Err(CallError::other(format!(
            "insufficient address space to extend prefix of {} by {extension}",
            network.bits
        )));
    };
    let added = bits.checked_sub(network.bits);
    let most = added.map_or(u128::MAX, |added| u128::MAX.checked_shr(128 - added).unwrap_or(0));
    // A negative number counts by its size, and is put in as two's complement.
    let fits = u128::try_from(&size(subnet.clone())).is_ok_and(|size| size <= most);
    let shifted = || subnet.clone() << (network.width - bits) as usize;
    let Some(address) = fits.then(|| network.with_bits(shifted())).flatten() else {
        return Err(CallError::other(format!(
            "prefix extension of {extension} does not accommodate a subnet numbered {subnet}"
        )));
    };
    Ok(Value::string(Network { address, bits, ..network }.to_string()))
}

fn cidrsubnets(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let network = parse(a).map_err(|e| e.at(0))?;
    let end = network.address | network.host_mask();
    // The first address that is not taken; none when the last one is.
    let mut free = Some(network.address);
    let mut last: Option<Network> = None;
    let mut subnets = Vec::with_capacity(a.len());
    for index in 1..a.len() {
        let refuse = |message: String| CallError::argument(index, message);
        let added = integer(a, index).map_err(|e| e.at(index))?;
        if added < 1 {
            return Err(refuse("must extend prefix by at least one bit".into()));
        }
        if added > 32 {
            return Err(refuse("may not extend prefix by more than 32 bits".into()));
        }
        let bits = network.bits + added as u32;
        if bits > network.width {
            let protocol = if network.width == 32 { "IPv4" } else { "IPv6" };
            return Err(refuse(format!(
                "would extend prefix to {bits} bits, which is too long for an {protocol} address"
            )));
        }
        let subnet = Network { address: 0, bits, ..network };
        // Subnets start at a multiple of their size.
        let aligned = free.and_then(|f| f.checked_add(subnet.host_mask()));
        let start = aligned.map(|f| f & !subnet.host_mask());
        let start = start.filter(|s| network.contains(*s) && !network.is_mapped());
        let Some(start) = start else {
            let after = match network.is_mapped() {
                true => "<nil>".to_owned(),
                false => last.unwrap_or(network).to_string(),
            };
            return Err(refuse(format!(
                "not enough remaining address space for a subnet with a prefix of {bits} bits after {after}"
            )));
        };
        let subnet = Network { address: start, ..subnet };
        let taken = start | subnet.host_mask();
        free = (taken < end).then(|| taken + 1);
        last = Some(subnet);
        subnets.push(Value::string(subnet.to_string()));
    }
    Ok(Value::list(Type::String, subnets))
}
