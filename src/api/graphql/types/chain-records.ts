import {
  type ChainRecordVersion,
  listChainRecords,
  listChainRecordVersions,
  readChainRecord,
  readChainRecordVersion,
} from '../../../service/chain-records/chain-records.ts'
import {
  type ChainRecordChange,
  chainRecordTipCursor,
  followChainRecords,
} from '../../../service/chain-records/follow-chain-records.ts'
import { setChainRecord } from '../../../service/chain-records/set-chain-record.ts'
import { defaultPageSize } from '../../../service/updates/list-ledger-updates.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { exposed } from '../declare.ts'
import { chainRecordCost, computes, fieldCost, free, pageCost, reads } from '../execution/prices.ts'
import { listConnection, pageArgsOf } from '../lists.ts'
import { indexId } from '../node-id.ts'

/** Chain records: queries for records and versions, the mutation that sets a record, and the subscription to changes. */

export const ChainRecord = builder.nodeRef<ChainRecordVersion>('ChainRecord', {
  id: { resolve: ({ chainId, version }) => `${chainId}/${version}` },
  loadOne: async (id, { services }) => {
    // The human-readable part of a chain id may contain slashes.
    const at = Math.max(id.lastIndexOf('/'), 0)
    const [chainId, version] = [id.slice(0, at), id.slice(at + 1)]
    const index = indexId(version)
    // A record is found by its chain id in upper case too, but a node has one id.
    if (index === undefined || chainId !== chainId.toLowerCase()) return undefined
    return await readChainRecordVersion(services, chainId, index)
  },
})
ChainRecord.implement({
  description: 'A version of the record of a chain.',
  fields: (t) => ({
    ...exposed(t, 'String', {
      chainId:
        'The address of the account or anchor that governs the chain, as Bech32 text in lower case.',
      setBy:
        'The subject of the token that set this version, or the fingerprint of the token if it has no subject.',
    }),
    accessNodes: t.field({
      type: ['String'],
      description: 'The access nodes, in the order in which they were set.',
      complexity: fieldCost.accessNodes,
      resolve: (record) => [...record.accessNodes],
    }),
    ...exposed(t, 'Boolean', { isActive: 'Whether the chain is in use.' }),
    ...exposed(t, 'UInt32', {
      version:
        'The number of the version, starting at 1 for each chain. Every change creates a new version.',
    }),
    setAt: t.field({
      type: 'DateTime',
      description: 'The time at which this version was set.',
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
    description: 'A list of all versions of the record, the newest first.',
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
    description: 'The current record of a chain. Null if none was ever set.',
    args: {
      chainId: t.arg.string({
        required: true,
        description: 'The address of the chain as Bech32 text, with any human-readable part.',
      }),
    },
    resolve: async (_root, { chainId }, { services }) =>
      orThrow(await readChainRecord(services, chainId)),
  }),
  chainRecords: t.field({
    type: ChainRecordConnection,
    nullable: true,
    description: 'A list of the current records of all chains, ordered by chain id.',
    complexity: pageCost,
    args: pageArgsOf(defaultPageSize),
    resolve: async (_root, page, { services }) => orThrow(await listChainRecords(services, page)),
  }),
  chainRecordTipCursor: t.field({
    complexity: reads(3),
    type: 'String',
    description:
      'The cursor of the newest change of chain records. The subscription chainRecordChanged after it sends all later changes, so a client that reads it first, alone or with chainRecords, misses none.',
    resolve: (_root, _args, { services }) => chainRecordTipCursor(services),
  }),
}))

const ChainRecordInput = builder.inputType('ChainRecordInput', {
  description: 'The record of a chain. It replaces the previous record completely.',
  fields: (t) => ({
    accessNodes: t.stringList({
      required: true,
      description:
        'The access nodes: at most 1000 texts of 1 to 256 characters without control characters.',
    }),
    isActive: t.boolean({ required: true, description: 'Whether the chain is in use.' }),
  }),
})

builder.mutationField('setChainRecord', (t) =>
  t.field({
    complexity: computes(chainRecordCost),
    type: ChainRecord,
    nullable: true,
    description:
      'Sets the record of a chain. The caller needs a token with write permission. Null with an error if the record is not set.',
    args: {
      chainId: t.arg.string({
        required: true,
        description: 'The address of the chain as Bech32 text, with any human-readable part.',
      }),
      record: t.arg({
        type: ChainRecordInput,
        required: true,
        description: 'The complete new record.',
      }),
      ifVersion: t.arg({
        type: 'UInt32',
        description:
          'The version that must be current, or 0 if the chain must not have a record yet. Otherwise the record is not changed.',
      }),
    },
    resolve: async (_root, { chainId, record, ifVersion }, { caller, services }) => {
      const { name: setBy } = orThrow(await caller.requireWrite())
      const onlyOver = ifVersion ? [ifVersion] : undefined
      const notOver = ifVersion === 0 ? 'ANY' : undefined
      return orThrow(await setChainRecord(services, { chainId, record, setBy, onlyOver, notOver }))
    },
  }),
)

const ChainRecordChanged = builder.objectRef<ChainRecordChange>('ChainRecordChange').implement({
  description: 'A change of a chain record.',
  fields: (t) => ({
    ...exposed(t, 'String', {
      cursor:
        'The position of the change among the changes of all chains. A subscription that resumes after it misses nothing.',
    }),
    ...exposed(t, ChainRecord, { record: 'The version of the record that the change created.' }),
  }),
})

builder.subscriptionField('chainRecordChanged', (t) =>
  t.field({
    complexity: free,
    type: ChainRecordChanged,
    description:
      'Changes of chain records, in the order in which they were made: first the existing changes after the cursor, then new changes.',
    args: {
      chainIds: t.arg.stringList({
        description:
          'The addresses of 1 to 100 chains as Bech32 texts. Without this argument, all chains are followed.',
      }),
      after: t.arg.string({
        description:
          'The cursor after which to start: chainRecordTipCursor, or the cursor of the last change. Without a cursor, only new changes are sent, and a client that is disconnected before the first of them cannot resume.',
      }),
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
