import { type Declaration, jsonFlag } from '../declaration.ts'

/** The commands that need neither a gateway nor a database. */

export const demoDeclaration: Declaration = {
  name: 'demo',
  summary: 'send a transaction on a temporary ledger and show its ledger updates',
  about: `Starts a gateway on a temporary file, opens a subscription, sends a signed transaction, and prints the
ledger updates as they arrive by subscription, query and REST. The exit code is 0 only if all three agree.`,
  flags: [jsonFlag],
  example: { run: 'ledger-gateway demo' },
}

export const inspectDeclaration: Declaration = {
  name: 'inspect',
  summary: 'describe blocks and other values, without a server',
  about: `Decodes and checks single values, and computes their identifiers and scores. It needs no server
and no database.

Without a file, the command answers each line of JSON on standard input with a line of JSON, in order:

  in    {"ref":…, "kind":KIND, "params":{…}, "json":…}   or "bytes":"0x…" instead of "json"
  out   {"ref":…, "ok":true, "json":…, "bytes":"0x…", "ids":{…}, …}
        {"ref":…, "ok":false, "error":{"code":…, "path":…, "offset":…, "message":…}}

KIND is block, output, address, protocol-parameters, slot-commitment, signed-transaction-payload,
output-id-proof (with "transaction"), bech32 ("text"), signature ("publicKey", "message",
"signature"), slot ("issuingTime"), id-from-output-id ("outputId"), foundry-id ("accountId",
"serialNumber", "tokenSchemeType"), public-key-hash ("publicKey"), network-id ("networkName") or
merkle-root ("leaves"). "ok" is about the form only: a block with a wrong signature is ok. The check
follows the official SDK: an error with "only":"sdk" is a rule that nodes do not have, and a gateway
accepts the value.

With a file, the command prints a readable description. The file contains a block as JSON, as
hexadecimal text (0x…) or as bytes, or an input line as above.`,
  words: [{ name: 'FILE', help: 'file to describe', isOptional: true, isFile: true }],
  flags: [
    {
      name: 'parameters-file',
      value: 'PATH',
      help: 'file of protocol parameters as JSON; a response of /api/core/v3/info is also accepted',
    },
  ],
  notes: `The parameters apply to values that do not contain parameters. The default is the development network with
its genesis at Unix time 0, so slots and block ids differ from those of a running development network.

The exit code is 0 also if a value is invalid, and 1 if a file cannot be read.`,
  example: {
    run: `echo '{"ref":1,"kind":"network-id","networkName":"testnet"}' | ledger-gateway inspect`,
    prints: '{"ref":1,"ok":true,"networkId":"8342982141227064571"}',
  },
}

export const verifyDeclaration: Declaration = {
  name: 'verify',
  summary: 'apply the ledger rules to transactions and other cases, without a server',
  about: `Applies the ledger rules to self-contained cases. It needs no server and no database.

Without a file, the command answers each line of JSON on standard input with a line of JSON, in order:

  in    {"ref":…, "kind":KIND, "parameters":{…}, …}
  out   {"ref":…, "result":…}
        {"ref":…, "error":{"code":…, "path":…, "message":…}}

KIND and its other members:

  tx        transaction, unlocks, inputs, ledger, manaRewards: valid, or the reason of the failure
  syntax    transaction, unlocks: whether they are well formed
  blocks    block, context: whether the block is accepted, or the stage and the reason of its refusal
  mana      subkind decay or generate: value, from, to; subkind output: output, from, to
  scores    subkind storage: output; subkind work: block
  roots     subkind trie: entries, deleted; tree: leaves; roots; commitment; parameters: startEpoch
  accounts  start, slots: entries, prices and roots after every slot
  rewards   epochs, claims
  genesis   outputs, credits
  owners    output, slots

An "error" is returned for a line that cannot be read, or for a malformed transaction.

With a file that contains one case of kind tx, the command explains the transaction in readable form: the
rules that hold, the first rule that is broken, and the mana.`,
  words: [{ name: 'FILE', help: 'file with the case to explain', isOptional: true, isFile: true }],
  example: {
    run: `echo '{"ref":1,"kind":"roots","subkind":"tree","leaves":["0x01"]}' | ledger-gateway verify`,
    prints:
      '{"ref":1,"result":"0x01cf79da4945c370c68b265ef70641aaa65eaa8f5953e3900d97724c2c5aa095"}',
  },
}
