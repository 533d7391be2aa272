//! Events of API Gateway, as our API takes them.

use aws_lambda_events::apigw::ApiGatewayV2httpRequest;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use runs::api::ApiRequest;
use runs::principal::{iam, jwt};

/// The request of an event. Who asks is believed of the authoriser alone.
pub(crate) fn of(event: ApiGatewayV2httpRequest) -> ApiRequest {
    let context = event.request_context;
    let authorizer = context.authorizer;
    let principal = authorizer.and_then(|authorizer| {
        let signed = authorizer.iam.and_then(|user| user.user_arn).map(|arn| iam(&arn));
        let token = authorizer
            .jwt
            .and_then(|token| Some(jwt(token.claims.get("iss")?, token.claims.get("sub")?)));
        signed.or(token)
    });
    let headers = event.headers.iter().filter_map(|(name, value)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    });
    let text = event.body.unwrap_or_default();
    let body = match event.is_base64_encoded {
        // What is no base64 is no body that anybody signed.
        true => STANDARD.decode(text).unwrap_or_default(),
        false => text.into_bytes(),
    };
    let path = event.raw_path.unwrap_or_default();
    // A stage other than the default one is in the path.
    let stage = context.stage.filter(|stage| stage != "$default");
    let path = stage
        .and_then(|stage| path.strip_prefix(&format!("/{stage}")).map(str::to_owned))
        .unwrap_or(path);
    ApiRequest {
        method: context.http.method.to_string(),
        path,
        query: event
            .query_string_parameters
            .iter()
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect(),
        headers: headers.collect(),
        body: body.into(),
        principal,
        ..ApiRequest::default()
    }
}
