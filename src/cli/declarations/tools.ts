import { type Declaration, jsonFlag } from '../declaration.ts'

/** The commands that need neither a gateway nor a database. */

export const demoDeclaration: Declaration = {
  name: 'demo',
  summary: 'show a transaction and its ledger updates on a temporary ledger',
  about: `Starts a gateway on a temporary file, opens a subscription, sends a real signed transaction, and prints
the ledger updates as they arrive by subscription, by query and by REST. Ends with 0 only if the three agree.`,
  flags: [jsonFlag],
  example: { run: 'ledger-gateway demo' },
}

export const inspectDeclaration: Declaration = {
  name: 'inspect',
  summary: 'describe blocks and other values, without a server',
  about: `Decodes and checks single values, and computes their identifiers and scores. It needs no server
and no database.

Without a file it answers each line of JSON on standard input with a line of JSON, in order:

  in    {"ref":…, "kind":KIND, "params":{…}, "json":…}   or "bytes":"0x…" in place of "json"
  out   {"ref":…, "ok":true, "json":…, "bytes":"0x…", "ids":{…}, …}
        {"ref":…, "ok":false, "error":{"code":…, "path":…, "offset":…, "message":…}}

KIND is block, output, address, protocol-parameters, slot-commitment, signed-transaction-payload,
output-id-proof (with "transaction"), bech32 ("text"), signature ("publicKey", "message",
"signature"), slot ("issuingTime"), id-from-output-id ("outputId"), foundry-id ("accountId",
"serialNumber", "tokenSchemeType"), public-key-hash ("publicKey"), network-id ("networkName") or
merkle-root ("leaves"). "ok" speaks of form only: a block with a wrong signature is ok. It follows
the official SDK: an error with "only":"sdk" is a rule that nodes do not have, and a gateway takes
the value.

With a file it prints a description for people: of a block as JSON, as text 0x… or as bytes, or of a
line as above.`,
  words: [{ name: 'FILE', help: 'what to describe', isOptional: true, isFile: true }],
  flags: [
    {
      name: 'parameters-file',
      value: 'PATH',
      help: 'protocol parameters, or an answer of /api/core/v3/info, as JSON',
    },
  ],
  notes: `The parameters count for values that bring none. Without them they are those of the development network,
with its genesis at Unix time 0: other slots than a running one has, and other block ids.`,
  example: {
    run: `echo '{"ref":1,"kind":"network-id","networkName":"testnet"}' | ledger-gateway inspect`,
    prints: '{"ref":1,"ok":true,"networkId":"8342982141227064571"}',
  },
}

export const verifyDeclaration: Declaration = {
  name: 'verify',
  summary: 'apply the rules of the ledger to transactions and other cases, without a server',
  about: `Applies the rules of the ledger to cases that bring everything they need. It needs no server and
no database.

Without a file it answers each line of JSON on standard input with a line of JSON, in order:

  in    {"ref":…, "kind":KIND, "parameters":{…}, …}
  out   {"ref":…, "result":…}
        {"ref":…, "error":{"code":…, "path":…, "message":…}}

KIND and the members beside it:

  tx        transaction, unlocks, inputs, ledger, manaRewards: valid, or the reason it fails for
  syntax    transaction, unlocks: whether they are well formed
  blocks    block, context: whether the block comes in, or at which stage and why it does not
  mana      subkind decay or generate: value, from, to; subkind output: output, from, to
  scores    subkind storage: output; subkind work: block
  roots     subkind trie: entries, deleted; tree: leaves; roots; commitment; parameters: startEpoch
  accounts  start, slots: entries, prices and roots after every slot
  rewards   epochs, claims
  genesis   outputs, credits
  owners    output, slots

An error is for a line that cannot be read, or a transaction that is malformed.

With a file, which holds one case of kind tx, it explains the transaction to people: the rules that
hold, the first that is broken, and the mana.`,
  words: [{ name: 'FILE', help: 'the case to explain', isOptional: true, isFile: true }],
  example: {
    run: `echo '{"ref":1,"kind":"roots","subkind":"tree","leaves":["0x01"]}' | ledger-gateway verify`,
    prints:
      '{"ref":1,"result":"0x01cf79da4945c370c68b265ef70641aaa65eaa8f5953e3900d97724c2c5aa095"}',
  },
}
