use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::Type;
use values::schema::{
    Attribute, AttributeType, Block, Description, NestedAttributes, NestedBlock, Nesting, Schema,
};

#[derive(Serialize, Deserialize)]
pub(super) struct SchemaForm {
    version: u64,
    block: BlockForm,
}

#[derive(Serialize, Deserialize)]
struct BlockForm {
    attributes: BTreeMap<Arc<str>, AttributeForm>,
    blocks: BTreeMap<Arc<str>, NestedBlockForm>,
    description: Option<DescriptionForm>,
    deprecated: bool,
}

#[derive(Serialize, Deserialize)]
enum DescriptionForm {
    Plain(Arc<str>),
    Markdown(Arc<str>),
}

#[derive(Serialize, Deserialize)]
struct AttributeForm {
    ty: AttributeTypeForm,
    required: bool,
    optional: bool,
    computed: bool,
    sensitive: bool,
    write_only: bool,
    deprecated: bool,
    description: Option<DescriptionForm>,
}

#[derive(Serialize, Deserialize)]
enum AttributeTypeForm {
    Plain(TypeForm),
    Nested(NestingForm, BTreeMap<Arc<str>, AttributeForm>),
}

#[derive(Serialize, Deserialize)]
struct NestedBlockForm {
    nesting: NestingForm,
    min_items: u64,
    max_items: u64,
    block: BlockForm,
}

#[derive(Serialize, Deserialize)]
enum NestingForm {
    Single,
    Group,
    List,
    Set,
    Map,
}

#[derive(Serialize, Deserialize)]
enum TypeForm {
    Dynamic,
    Bool,
    Number,
    String,
    List(Box<TypeForm>),
    Set(Box<TypeForm>),
    Map(Box<TypeForm>),
    Tuple(Vec<TypeForm>),
    Object(BTreeMap<Arc<str>, TypeForm>, BTreeSet<Arc<str>>),
}

impl From<&Schema> for SchemaForm {
    fn from(schema: &Schema) -> SchemaForm {
        SchemaForm { version: schema.version, block: (&schema.block).into() }
    }
}
impl From<SchemaForm> for Schema {
    fn from(form: SchemaForm) -> Schema {
        Schema { version: form.version, block: form.block.into() }
    }
}

impl From<&Block> for BlockForm {
    fn from(block: &Block) -> BlockForm {
        BlockForm {
            attributes: block.attributes.iter().map(|(k, a)| (k.clone(), a.into())).collect(),
            blocks: block.blocks.iter().map(|(k, b)| (k.clone(), b.into())).collect(),
            description: block.description.as_ref().map(Into::into),
            deprecated: block.deprecated,
        }
    }
}
impl From<BlockForm> for Block {
    fn from(form: BlockForm) -> Block {
        Block {
            attributes: form.attributes.into_iter().map(|(k, a)| (k, a.into())).collect(),
            blocks: form.blocks.into_iter().map(|(k, b)| (k, b.into())).collect(),
            description: form.description.map(Into::into),
            deprecated: form.deprecated,
        }
    }
}

impl From<&Description> for DescriptionForm {
    fn from(description: &Description) -> DescriptionForm {
        match description {
            Description::Plain(text) => DescriptionForm::Plain(text.clone()),
            Description::Markdown(text) => DescriptionForm::Markdown(text.clone()),
        }
    }
}
impl From<DescriptionForm> for Description {
    fn from(form: DescriptionForm) -> Description {
        match form {
            DescriptionForm::Plain(text) => Description::Plain(text),
            DescriptionForm::Markdown(text) => Description::Markdown(text),
        }
    }
}

impl From<&Attribute> for AttributeForm {
    fn from(attribute: &Attribute) -> AttributeForm {
        AttributeForm {
            ty: match &attribute.ty {
                AttributeType::Plain(ty) => AttributeTypeForm::Plain(ty.into()),
                AttributeType::Nested(nested) => AttributeTypeForm::Nested(
                    nested.nesting.into(),
                    nested.attributes.iter().map(|(k, a)| (k.clone(), a.into())).collect(),
                ),
            },
            required: attribute.required,
            optional: attribute.optional,
            computed: attribute.computed,
            sensitive: attribute.sensitive,
            write_only: attribute.write_only,
            deprecated: attribute.deprecated,
            description: attribute.description.as_ref().map(Into::into),
        }
    }
}
impl From<AttributeForm> for Attribute {
    fn from(form: AttributeForm) -> Attribute {
        Attribute {
            ty: match form.ty {
                AttributeTypeForm::Plain(ty) => AttributeType::Plain(ty.into()),
                AttributeTypeForm::Nested(nesting, attributes) => {
                    AttributeType::Nested(NestedAttributes {
                        nesting: nesting.into(),
                        attributes: attributes.into_iter().map(|(k, a)| (k, a.into())).collect(),
                    })
                }
            },
            required: form.required,
            optional: form.optional,
            computed: form.computed,
            sensitive: form.sensitive,
            write_only: form.write_only,
            deprecated: form.deprecated,
            description: form.description.map(Into::into),
        }
    }
}

impl From<&NestedBlock> for NestedBlockForm {
    fn from(nested: &NestedBlock) -> NestedBlockForm {
        NestedBlockForm {
            nesting: nested.nesting.into(),
            min_items: nested.min_items,
            max_items: nested.max_items,
            block: (&nested.block).into(),
        }
    }
}
impl From<NestedBlockForm> for NestedBlock {
    fn from(form: NestedBlockForm) -> NestedBlock {
        NestedBlock {
            nesting: form.nesting.into(),
            min_items: form.min_items,
            max_items: form.max_items,
            block: form.block.into(),
        }
    }
}

impl From<Nesting> for NestingForm {
    fn from(nesting: Nesting) -> NestingForm {
        match nesting {
            Nesting::Single => NestingForm::Single,
            Nesting::Group => NestingForm::Group,
            Nesting::List => NestingForm::List,
            Nesting::Set => NestingForm::Set,
            Nesting::Map => NestingForm::Map,
        }
    }
}
impl From<NestingForm> for Nesting {
    fn from(form: NestingForm) -> Nesting {
        match form {
            NestingForm::Single => Nesting::Single,
            NestingForm::Group => Nesting::Group,
            NestingForm::List => Nesting::List,
            NestingForm::Set => Nesting::Set,
            NestingForm::Map => Nesting::Map,
        }
    }
}

impl From<&Type> for TypeForm {
    fn from(ty: &Type) -> TypeForm {
        match ty {
            Type::Dynamic => TypeForm::Dynamic,
            Type::Bool => TypeForm::Bool,
            Type::Number => TypeForm::Number,
            Type::String => TypeForm::String,
            Type::List(t) => TypeForm::List(Box::new((&**t).into())),
            Type::Set(t) => TypeForm::Set(Box::new((&**t).into())),
            Type::Map(t) => TypeForm::Map(Box::new((&**t).into())),
            Type::Tuple(ts) => TypeForm::Tuple(ts.iter().map(Into::into).collect()),
            Type::Object(o) => TypeForm::Object(
                o.attributes.iter().map(|(k, t)| (k.clone(), t.into())).collect(),
                o.optional.clone(),
            ),
        }
    }
}
impl From<TypeForm> for Type {
    fn from(form: TypeForm) -> Type {
        match form {
            TypeForm::Dynamic => Type::Dynamic,
            TypeForm::Bool => Type::Bool,
            TypeForm::Number => Type::Number,
            TypeForm::String => Type::String,
            TypeForm::List(t) => Type::list((*t).into()),
            TypeForm::Set(t) => Type::set((*t).into()),
            TypeForm::Map(t) => Type::map((*t).into()),
            TypeForm::Tuple(ts) => Type::tuple(ts.into_iter().map(Into::into).collect::<Vec<_>>()),
            TypeForm::Object(attributes, optional) => Type::Object(Arc::new(values::ObjectType {
                attributes: attributes.into_iter().map(|(k, t)| (k, t.into())).collect(),
                optional,
            })),
        }
    }
}
