import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  type GraphQLNamedType,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isObjectType,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { fieldNameOf } from '../../../../src/api/graphql/model/from-schema.ts'
import { kindName } from '../../../../src/api/graphql/model/from-schema-inputs.ts'
import { protocolRoots } from '../../../../src/api/graphql/model/model.ts'
import { collectTypes } from '../../../../src/api/graphql/model/protocol-types.ts'
import { schema } from '../../../../src/api/graphql/schema.ts'
import { Block } from '../../../../src/protocol/block.ts'
import type { StructSchema, UnionSchema } from '../../../../src/protocol/schema/composites.ts'

const { structs, families } = collectTypes(protocolRoots)
const blockTypes = collectTypes([Block])

/** The GraphQL type of a protocol type, and its input type. */
const contents = new Set(['Address', 'Block', 'Output', 'Transaction'])
const typeNameOf = (name: string) => (contents.has(name) ? `${name}Content` : name)
const fieldNamesOf = (struct: StructSchema<unknown>) =>
  Object.keys(struct.fields).map((member) => fieldNameOf(struct, member))
const inputNameOf = (name: string) => (name.endsWith('Input') ? `${name}Fields` : `${name}Input`)

describe('list of types', () => {
  test('every type and family that a protocol module exports is collected', async () => {
    const exported = await exportedSchemas()
    expect(exported.length).toBeGreaterThan(50)
    const known = new Set([...structs.keys(), ...families.keys()])
    expect(exported.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([])
  })

  test.each([...structs.values()])('$name has its members and no other', (struct) => {
    const type = schema.getType(typeNameOf(struct.name))
    const members = isObjectType(type) ? Object.keys(type.getFields()) : undefined
    const code = struct.code === undefined ? [] : ['type']
    expect(members?.sort()).toEqual([...code, ...fieldNamesOf(struct)].sort())
  })

  test.each([...families])('%s has all its kinds and no other', (name, variants) => {
    const type = schema.getType(typeNameOf(name))
    const kinds = isInterfaceType(type)
      ? schema.getPossibleTypes(type).map((kind) => kind.name)
      : undefined
    expect([...(kinds ?? [])].sort()).toEqual(variants.map((variant) => variant.name).sort())
  })

  test('a declared type leads to declared types only', () => {
    const visited = new Set<string>()
    for (const { name } of protocolRoots) visit(schema.getType(typeNameOf(name)), visited)
    const declared = [...structs.keys(), ...families.keys()].map(typeNameOf)
    expect([...visited].sort()).toEqual([...declared, 'MetadataEntry'].sort())
  })
})

test('only the id of native tokens has another name than in the protocol', () => {
  const renamed = [...structs.values()].flatMap((struct) =>
    Object.keys(struct.fields).flatMap((member) => {
      const name = fieldNameOf(struct, member)
      return name === member ? [] : [`${struct.name}.${name}`]
    }),
  )
  expect(renamed).toEqual(['NativeTokenFeature.tokenId'])
  expect(fieldNameOf(Block, 'id')).toBe('id')
})

describe('scalars', () => {
  const rows = [
    ['BlockHeader', 'protocolVersion', 'UInt32!', 'UInt32!'],
    ['BlockHeader', 'networkId', 'UInt64!', 'UInt64!'],
    ['BlockHeader', 'slotCommitmentId', 'CommitmentId!', 'CommitmentId!'],
    ['BlockHeader', 'issuerId', 'AccountId!', 'AccountId!'],
    ['BasicBlockBody', 'strongParents', '[BlockId!]!', '[BlockId!]!'],
    ['BasicBlockBody', 'weakParents', '[BlockId!]!', '[BlockId!]'],
    ['BasicBlockBody', 'payload', 'Payload', 'PayloadInput'],
    ['UTXOInput', 'transactionId', 'TransactionId!', 'TransactionId!'],
    ['AnchorOutput', 'anchorId', 'AnchorId!', 'AnchorId!'],
    ['NFTOutput', 'nftId', 'NftId!', 'NftId!'],
    ['DelegationOutput', 'delegationId', 'DelegationId!', 'DelegationId!'],
    ['NativeTokenFeature', 'id', 'FoundryId!', 'FoundryId!'],
    ['NativeTokenFeature', 'amount', 'UInt256!', 'UInt256!'],
    ['MetadataFeature', 'entries', '[MetadataEntry!]!', '[MetadataEntryInput!]!'],
    ['Ed25519Address', 'pubKeyHash', 'Hex!', 'Hex!'],
    ['RestrictedAddress', 'allowedCapabilities', 'Hex!', 'Hex'],
  ] as const
  test.each(rows)('%s.%s has the type %s, and the input type %s', (name, member, output, input) => {
    const [type, inputType] = [schema.getType(name), schema.getType(inputNameOf(name))]
    const fields = isObjectType(type) ? type.getFields() : {}
    const inputFields = isInputObjectType(inputType) ? inputType.getFields() : {}
    expect(String(fields[fieldNameOf({ name }, member)]?.type)).toBe(output)
    expect(String(inputFields[fieldNameOf({ name }, member)]?.type)).toBe(input)
  })
})

describe('list of inputs', () => {
  const inputs = [...blockTypes.structs.values()].filter(hasMembers)

  test.each(inputs)('the input of $name has its members and no other', (struct) => {
    const type = schema.getType(inputNameOf(struct.name))
    const members = isInputObjectType(type) ? Object.keys(type.getFields()) : undefined
    expect(members?.sort()).toEqual(fieldNamesOf(struct).sort())
  })

  test.each([...blockTypes.families])('%sInput takes exactly one kind', (name, variants) => {
    const type = schema.getType(inputNameOf(name))
    expect(isInputObjectType(type) && type.isOneOf).toBe(true)
    const kinds = isInputObjectType(type) ? Object.keys(type.getFields()) : undefined
    expect(kinds?.sort()).toEqual(variants.map((variant) => kindName(name, variant.name)).sort())
  })

  test('an input may omit what JSON may omit, and nothing else', () => {
    const printed = inputs.flatMap((struct) => {
      const type = schema.getType(inputNameOf(struct.name))
      const fields = isInputObjectType(type) ? Object.values(type.getFields()) : []
      return fields
        .filter((field) => !String(field.type).endsWith('!'))
        .map((field) => `${struct.name}.${field.name}`)
    })
    expect(printed.sort()).toEqual(optionalMembers)
  })

  const kinds = [
    ['Output', 'BasicOutput', 'basic'],
    ['Output', 'NFTOutput', 'nft'],
    ['ContextInput', 'CommitmentInput', 'commitment'],
    ['Address', 'Ed25519Address', 'ed25519'],
    ['Address', 'ImplicitAccountCreationAddress', 'implicitAccountCreation'],
    ['UnlockCondition', 'StateControllerAddressUnlockCondition', 'stateControllerAddress'],
    ['BlockIssuerKey', 'Ed25519PublicKeyHashBlockIssuerKey', 'ed25519PublicKeyHash'],
    ['Input', 'UTXOInput', 'utxo'],
  ] as const
  test.each(kinds)('in %sInput, %s is %s', (family, variant, member) =>
    expect(kindName(family, variant)).toBe(member),
  )
})

describe('descriptions', () => {
  const names = [...structs.keys(), ...families.keys()]
  test.each(names)('%s and all its members have a description', (name) => {
    const undocumented = [
      schema.getType(typeNameOf(name)),
      schema.getType(inputNameOf(name)),
    ].flatMap((type) => (type === undefined ? [] : undocumentedIn(type)))
    expect(undocumented).toEqual([])
  })

  const limits = [
    [
      'TransactionContent',
      'inputs',
      'The outputs to spend, without duplicates (1 to 128 elements).',
    ],
    ['BlockHeader', 'protocolVersion', /\(0 to 255\)\.$/],
    ['BlockHeader', 'issuingTime', 'Unix time in nanoseconds (0 to 2^64 - 1).'],
    ['Ed25519Signature', 'signature', 'Ed25519 signature (64 bytes).'],
    ['ManaParameters', 'generationRate', /\(0 to 255\)\.$/],
    ['Allotment', 'mana', 'Amount of mana, above 0 (at most 2^64 - 1).'],
    ['TagFeature', 'tag', 'The tag, 1 to 64 bytes.'],
    ['AnchorOutput', 'features', /Allowed here: MetadataFeature, StateMetadataFeature\.$/],
    ['DelegationOutput', 'validatorAddress', /Allowed here: AccountAddress\.$/],
  ] as const
  test.each(limits)('the description of %s.%s has its limits', (name, member, sentence) => {
    const type = schema.getType(name)
    const field = isObjectType(type) ? type.getFields()[member] : undefined
    expect(field?.description).toMatch(sentence)
  })
})

/** Codec reference 1.3. */
const optionalMembers = [
  'AccountOutput.features',
  'AccountOutput.immutableFeatures',
  'AnchorOutput.features',
  'AnchorOutput.immutableFeatures',
  'BasicBlockBody.payload',
  'BasicBlockBody.shallowLikeParents',
  'BasicBlockBody.weakParents',
  'BasicOutput.features',
  'FoundryOutput.features',
  'FoundryOutput.immutableFeatures',
  'NFTOutput.features',
  'NFTOutput.immutableFeatures',
  'RestrictedAddress.allowedCapabilities',
  'TaggedDataPayload.data',
  'TaggedDataPayload.tag',
  'Transaction.allotments',
  'Transaction.capabilities',
  'Transaction.contextInputs',
  'Transaction.payload',
  'ValidationBlockBody.shallowLikeParents',
  'ValidationBlockBody.weakParents',
]

type Named = StructSchema<unknown> | UnionSchema<unknown>

/** Collects the schemas from the modules themselves, not from the roots. */
async function exportedSchemas(): Promise<readonly Named[]> {
  const folder = new URL('../../../../src/protocol/', import.meta.url)
  // The OpenAPI document describes the responses of nodes on REST; GraphQL has types of its own for them.
  const files = readdirSync(fileURLToPath(folder)).filter(
    (file) => file.endsWith('.ts') && file !== 'node-responses.ts',
  )
  const modules: object[] = await Promise.all(
    files.map((file) => import(new URL(file, folder).href)),
  )
  return modules.flatMap((module) => Object.values(module)).filter(isNamed)
}

function isNamed(value: unknown): value is Named {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false
  return value.kind === 'struct' || value.kind === 'union'
}

function visit(type: GraphQLNamedType | undefined, visited: Set<string>): void {
  if (type === undefined || isLeafType(type) || visited.has(type.name)) return
  // Address is a type of the graph, and its content is what the protocol declares.
  if (type.name === 'Address') {
    visit(schema.getType('AddressContent'), visited)
    return
  }
  visited.add(type.name)
  if (isInterfaceType(type)) for (const kind of schema.getPossibleTypes(type)) visit(kind, visited)
  if (!isObjectType(type)) return
  for (const field of Object.values(type.getFields())) visit(getNamedType(field.type), visited)
}

function hasMembers({ fields }: StructSchema<unknown>): boolean {
  return Object.keys(fields).length > 0
}

/** Returns the names of all that has no description, or one that is not a sentence. */
function undocumentedIn(type: GraphQLNamedType): readonly string[] {
  const fields =
    isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
      ? Object.values(type.getFields())
      : []
  return [
    ...(isSentence(type.description) ? [] : [type.name]),
    ...fields
      .filter((field) => !isSentence(field.description))
      .map((f) => `${type.name}.${f.name}`),
  ]
}

function isSentence(text: string | null | undefined): boolean {
  return typeof text === 'string' && /^[A-Z0-9].{3,}\.$/s.test(text)
}
