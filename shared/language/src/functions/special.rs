//! Functions that the evaluator implements: only their signatures stand here.

use super::call::{Function, Parameter, ParameterType};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::special(
        "can",
        "Whether an expression can be evaluated without an error.",
        &[Parameter::any("expression").unknown().dynamic().marked()],
        ParameterType::Bool,
    ),
    Function::special(
        "templatefile",
        "Reads a file and renders it as a template with the given variables.",
        &[Parameter::string("path").marked(), Parameter::any("vars").marked()],
        ParameterType::Any,
    ),
    Function::special(
        "templatestring",
        "Renders a string from elsewhere in the module as a template with the given variables.",
        &[
            Parameter::string("template")
                .described("A reference to the string that is the template."),
            Parameter::any("vars").described("An object: the variables of the template."),
        ],
        ParameterType::String,
    ),
    Function::special(
        "try",
        "The first of its arguments that can be evaluated without an error.",
        &[],
        ParameterType::Any,
    )
    .variadic(&Parameter::any("expressions").unknown().dynamic().marked()),
    Function::special(
        "type",
        "The type of a value, in the console.",
        &[Parameter::any("value").null().unknown().dynamic().marked()],
        ParameterType::Any,
    ),
];
