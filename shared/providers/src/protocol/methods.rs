use super::Version;

/// One call of the protocol: its name, and its gRPC path in either version.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    v5: &'static str,
    v6: &'static str,
}

impl Method {
    pub(crate) fn path(&self, version: Version) -> &'static str {
        match version {
            Version::V5 => self.v5,
            Version::V6 => self.v6,
        }
    }
}

macro_rules! methods {
    ($($constant:ident = $v6:literal $(, in protocol 5 $v5:literal)?;)*) => {$(
        pub(crate) const $constant: Method = Method {
            name: $v6,
            v5: methods!(@path5 $v6 $(, $v5)?),
            v6: concat!("/tfplugin6.Provider/", $v6),
        };
    )*};
    (@path5 $same:literal) => { concat!("/tfplugin5.Provider/", $same) };
    (@path5 $v6:literal, $v5:literal) => { concat!("/tfplugin5.Provider/", $v5) };
}

methods! {
    GET_SCHEMA = "GetProviderSchema", in protocol 5 "GetSchema";
    GET_IDENTITY_SCHEMAS = "GetResourceIdentitySchemas";
    VALIDATE_PROVIDER = "ValidateProviderConfig", in protocol 5 "PrepareProviderConfig";
    VALIDATE_RESOURCE = "ValidateResourceConfig", in protocol 5 "ValidateResourceTypeConfig";
    VALIDATE_DATA = "ValidateDataResourceConfig", in protocol 5 "ValidateDataSourceConfig";
    VALIDATE_EPHEMERAL = "ValidateEphemeralResourceConfig";
    CONFIGURE = "ConfigureProvider", in protocol 5 "Configure";
    STOP = "StopProvider", in protocol 5 "Stop";
    UPGRADE_STATE = "UpgradeResourceState";
    UPGRADE_IDENTITY = "UpgradeResourceIdentity";
    READ = "ReadResource";
    PLAN = "PlanResourceChange";
    APPLY = "ApplyResourceChange";
    IMPORT = "ImportResourceState";
    MOVE = "MoveResourceState";
    READ_DATA = "ReadDataSource";
    OPEN_EPHEMERAL = "OpenEphemeralResource";
    RENEW_EPHEMERAL = "RenewEphemeralResource";
    CLOSE_EPHEMERAL = "CloseEphemeralResource";
    CALL_FUNCTION = "CallFunction";
}
