import {
  type ChainRecordView,
  listChainRecords,
  listChainRecordVersions,
  readChainRecord,
  readChainRecordVersion,
} from '../../service/chain-records/chain-records.ts'
import {
  type ChainRecordChange,
  followChainRecords,
} from '../../service/chain-records/follow-chain-records.ts'
import { setChainRecord } from '../../service/chain-records/set-chain-record.ts'
import { defaultPageSize } from '../../service/updates/list-ledger-updates.ts'
import { orThrow } from '../errors.ts'
import { builder } from './builder.ts'
import { listConnection, pageArgsOf } from './lists.ts'
import { indexId } from './node-id.ts'
import { chainRecordCost, computes, fieldCost, free, pageCost, reads } from './prices.ts'

/** Chain records: reading them with their versions, and setting them. */

/** The record of a chain. */
export const ChainRecord = builder.nodeRef<ChainRecordView>('ChainRecord', {
  id: { resolve: ({ chainId, version }) => `${chainId}/${version}` },
  loadOne: async (id, { services }) => {
    const [chainId = '', version = ''] = id.split('/')
    const index = indexId(version)
    return index === undefined ? undefined : await readChainRecordVersion(services, chainId, index)
  },
})
ChainRecord.implement({
  description: 'The record of a chain, as of one version.',
  fields: (t) => ({
    chainId: t.exposeString('chainId', {
      description: 'Bech32 text of the account or anchor that governs the chain, in lower case.',
    }),
    accessNodes: t.field({
      type: ['String'],
      description: 'The access nodes, as they were set.',
      complexity: fieldCost.accessNodes,
      resolve: (record) => [...record.accessNodes],
    }),
    isActive: t.exposeBoolean('isActive', { description: 'Whether the chain is in use.' }),
    version: t.field({
      type: 'UInt32',
      description: '1, 2, 3 … for each chain; every setting makes a new one.',
      resolve: (record) => record.version,
    }),
    setBy: t.exposeString('setBy', {
      description: 'The subject of the token, or its fingerprint where it has none.',
    }),
    setAt: t.field({
      type: 'DateTime',
      description: 'When this version was set.',
      resolve: ({ setAt }) => Number(setAt),
    }),
  }),
})

const ChainRecordConnection = listConnection(
  'ChainRecord',
  ChainRecord,
  'A page of chain records.',
  { edgeDescription: 'A record and its cursor.' },
)

builder.objectField(ChainRecord, 'versions', (t) =>
  t.field({
    type: ChainRecordConnection,
    description: 'All versions of this record, newest first.',
    complexity: pageCost,
    args: pageArgsOf(defaultPageSize),
    resolve: async ({ chainId }, page, { services }) =>
      orThrow(await listChainRecordVersions(services, chainId, page)),
  }),
)

builder.queryFields((t) => ({
  chainRecord: t.field({
    complexity: reads(1),
    type: ChainRecord,
    nullable: true,
    description: 'The record of a chain; null when none was ever set.',
    args: {
      chainId: t.arg.string({ required: true, description: 'Bech32, any human-readable part.' }),
    },
    resolve: async (_root, { chainId }, { services }) =>
      orThrow(await readChainRecord(services, chainId)),
  }),
  chainRecords: t.field({
    type: ChainRecordConnection,
    nullable: true,
    description: 'The records of all chains, by chain id.',
    complexity: pageCost,
    args: pageArgsOf(defaultPageSize),
    resolve: async (_root, page, { services }) => orThrow(await listChainRecords(services, page)),
  }),
}))

const ChainRecordInput = builder.inputType('ChainRecordInput', {
  description: 'The record of a chain; it replaces the former one whole.',
  fields: (t) => ({
    accessNodes: t.stringList({
      required: true,
      description: 'At most 1000 texts of 1 to 256 characters without control characters.',
    }),
    isActive: t.boolean({ required: true, description: 'Whether the chain is in use.' }),
  }),
})

builder.mutationField('setChainRecord', (t) =>
  t.field({
    complexity: computes(chainRecordCost),
    type: ChainRecord,
    description: 'Sets the record of a chain. Needs a token that allows to write.',
    args: {
      chainId: t.arg.string({ required: true, description: 'Bech32, any human-readable part.' }),
      record: t.arg({ type: ChainRecordInput, required: true, description: 'The whole record.' }),
      ifVersion: t.arg({
        type: 'UInt32',
        description: 'The version that is meant to be replaced; another one is left as it is.',
      }),
    },
    resolve: async (_root, { chainId, record, ifVersion }, { caller, services }) => {
      const { name: setBy } = orThrow(await caller.requireWrite())
      const onlyOver = ifVersion == null ? undefined : [ifVersion]
      return orThrow(await setChainRecord(services, { chainId, record, setBy, onlyOver }))
    },
  }),
)

const ChainRecordChanged = builder.objectRef<ChainRecordChange>('ChainRecordChange').implement({
  description: 'A setting of a chain record.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description:
        'Its position among the settings of all chains; resuming after it misses nothing.',
    }),
    record: t.field({
      complexity: free,
      type: ChainRecord,
      description: 'The record as it was set.',
      resolve: ({ record }) => record,
    }),
  }),
})

builder.subscriptionField('chainRecordChanged', (t) =>
  t.field({
    complexity: free,
    type: ChainRecordChanged,
    description:
      'Every setting of a chain record, in the order they were made: first those after the cursor that are there already, then the new ones.',
    args: {
      chainIds: t.arg.stringList({
        description: '1 to 100 chain ids, as Bech32 texts; left out: all chains.',
      }),
      after: t.arg.string({ description: 'A cursor; left out: only what is set from now on.' }),
    },
    subscribe: async (_root, { chainIds, after }, { services }) =>
      orThrow(
        await followChainRecords(services, {
          chainIds: chainIds ?? undefined,
          after: after ?? undefined,
        }),
      ),
    resolve: (change) => change,
  }),
)
