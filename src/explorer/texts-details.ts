/** English texts of the detailed parts of pages. */

export const detailTexts = {
  byteTree: {
    title: 'Fields and bytes',
    fields: 'Fields',
    hint: 'Point at a field or a byte, or use the arrow keys.',
    empty: 'empty',
    mana: 'mana',
    place: (offset: number, length: number) =>
      length === 1
        ? `byte ${offset}`
        : `bytes ${offset} to ${offset + length - 1} (${length} bytes)`,
  },
  proof: {
    title: 'Proof',
    check: 'Check in this browser',
    again: 'Check again',
    what: 'Hashes the output and follows the hashes to the transaction id and to the newest commitment.',
    checking: 'Checking …',
    proven: 'proven',
    refused: 'not proven',
    verdicts: {
      PROVEN:
        'These bytes are this output of its transaction: their hash leads to the transaction id.',
      OTHER_BYTES: 'The proof belongs to other bytes than the gateway shows.',
      OTHER_PLACE: 'The proof leads to another position among the outputs.',
      OTHER_TRANSACTION: 'The hashes lead to the id of another transaction.',
      COMMITTED: 'The commitment contains this output among all unspent outputs.',
      OTHER_STATE: 'The hashes lead to a set of unspent outputs that differs from the commitment.',
      OTHER_ROOTS: 'The roots do not match the commitment.',
      OTHER_COMMITMENT: 'The hashes lead to the id of another commitment.',
    },
    notProven:
      'Hashes cannot prove that the network agreed on this commitment. Compare its id with the id that other nodes report for the slot.',
    spent:
      'The output is spent. A commitment covers the outputs that are unspent at the end of its slot, and the gateway has only the roots of the newest slot.',
    waits: 'The slot of the output is not committed yet. Check again later.',
    stateRoot: 'Root over all unspent outputs',
    rootsId: 'Root over the roots of the slot',
    commitment: 'Commitment id',
    milestone: 'Milestone',
    outputHash: 'Hash of the output',
    root: 'Root over all outputs',
    transaction: 'Transaction id',
  },
  lanes: {
    mana: 'Mana',
    manaUnit: 'mana',
    token: 'Native token',
    from: 'from',
    to: 'to',
    output: 'output',
    allotted: 'allotted as block issuance credit',
    written: (amount: string) => `${amount} at creation`,
    kinds: {
      OUTPUT: '',
      ACCOUNT: '',
      PLANNED: 'outputs (not created)',
      REWARDS: 'rewards claimed',
      BURNED: 'burned',
      MISSING: 'missing',
      MINTED: 'minted',
      MELTED: 'melted or burned',
    },
  },
  unlocks: {
    title: 'Why each input can be spent',
    titleOfFailed: 'How the transaction unlocks each input',
    missing: 'Output that does not exist on this ledger:',
    conditions: {
      AddressUnlockCondition: 'Owned by',
      StateControllerAddressUnlockCondition: 'State controlled by',
      GovernorAddressUnlockCondition: 'Governed by',
      ImmutableAccountAddressUnlockCondition: 'Owned by the account',
      ExpirationUnlockCondition: 'Expired, now owned by',
    } as Readonly<Record<string, string>>,
    signed: (key: string) => `signed with the key ${key}.`,
    sameKey: (input: number) => `unlocked by the signature at input ${input}.`,
    byChain: (chain: string, input: number) => `unlocked by the ${chain} at input ${input}.`,
    chains: { AccountUnlock: 'account', AnchorUnlock: 'anchor', NFTUnlock: 'NFT' },
    members: (agreed: number, all: number) => `${agreed} of ${all} members have unlocked it.`,
  },
  rules: {
    title: 'Rules, in the order they are checked',
    held: 'held',
    broken: 'broken',
    open: 'not checked',
    references:
      'The inputs exist and are unspent, and everything that the transaction refers to exists.',
    byName: {
      inputsUnlocked: 'The owner of each input has unlocked it.',
      manaSummed: 'The mana of inputs and outputs fits into 64 bits.',
      timelocksPassed: 'No input is timelocked.',
      sendersUnlocked: 'Every sender has unlocked an input.',
      baseTokensBalance: 'Inputs and outputs hold the same base tokens.',
      storageDepositsReturned: 'Storage deposits are returned.',
      nativeTokensBalance:
        'Native tokens balance, unless their foundry is part of the transaction.',
      chainsTransition:
        'Accounts, anchors, foundries, NFTs and delegations are created, changed and destroyed by their rules.',
      inputsCreatedBefore: 'No input is newer than the transaction.',
      manaBalances: 'The inputs provide the mana of outputs and allotments.',
      oneImplicitAccount: 'At most one implicit account becomes an account.',
    },
  },
  tryAgain: {
    button: 'Check again now',
    checking: 'Checking against the current ledger …',
    known: 'The result is final: the ledger judges each transaction id only once.',
    accepted: 'The transaction would be accepted now.',
    refused: (message: string) => `A block with this transaction would be refused now: ${message}`,
    failed: (code: number, name: string, sentence: string) =>
      `The transaction would fail now: ${sentence} (${code}, ${name}).`,
  },
  balanceChart: {
    balance: 'balance',
    changes: 'changes',
    slider: 'Point in time',
    title: 'Balance over time',
    whole: 'The whole history.',
    lastOf: 'Of changes close together, only the last is shown.',
    knownFrom: (index: string) => `The history before milestone ${index} is no longer kept.`,
  },
  qrCode: {
    button: 'QR code',
    label: (text: string) => `QR code of ${text}`,
  },
  address: {
    chain: 'Address of',
    foundries: 'Issued tokens',
    delegations: 'Delegations',
  },
} as const
