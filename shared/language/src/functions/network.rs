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
    fn show(self, address: u128) -> String {
        match self.width {
            32 => Ipv4Addr::from(address as u32).to_string(),
            _ => show_v6(Ipv6Addr::from(address)),
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.show(self.address), self.bits)
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

fn cidrhost(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let host = whole(a, 1)?;
    let network = parse(a)?;
    let too_large = || {
        CallError::other(format!(
            "prefix of {} does not accommodate a host numbered {host}",
            network.bits
        ))
    };
    let negative = host < IBig::ZERO;
    // From the end, -1 is the last host.
    let offset = if negative { -&host - IBig::ONE } else { host.clone() };
    let offset = u128::try_from(&offset).map_err(|_| too_large())?;
    let mask = network.host_mask();
    if offset > mask {
        return Err(too_large());
    }
    let offset = if negative { mask - offset } else { offset };
    Ok(Value::string(network.show(network.address | offset)))
}

fn cidrnetmask(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let network = parse(a)?;
    if network.width != 32 {
        let shown = text(a, 0);
        let message = format!("IPv6 addresses cannot have a netmask: {shown}");
        return Err(CallError::other(message));
    }
    let mask = u128::from(u32::MAX) & !network.host_mask();
    Ok(Value::string(network.show(mask)))
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
    let added = bits.saturating_sub(network.bits);
    let most = u128::MAX.checked_shr(128 - added).unwrap_or(0);
    let Some(subnet) = u128::try_from(&subnet).ok().filter(|n| *n <= most) else {
        return Err(CallError::other(format!(
            "prefix extension of {extension} does not accommodate a subnet numbered {subnet}"
        )));
    };
    let shifted = subnet.checked_shl(network.width - bits).unwrap_or(0);
    Ok(Value::string(Network { address: network.address | shifted, bits, ..network }.to_string()))
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
        let Some(start) = start.filter(|s| network.contains(*s)) else {
            let after = last.unwrap_or(network);
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
