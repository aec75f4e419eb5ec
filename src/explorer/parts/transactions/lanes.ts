/** Computes the flows of mana and of each native token in a transaction, as lanes from inputs to outputs. */

/** One end of a lane: an output, or another source or destination. */
export interface LaneEnd {
  readonly key: string
  /** `OUTPUT` has the id of an address; `ACCOUNT` has the id of the account that receives an allotment. */
  readonly kind:
    | 'OUTPUT'
    | 'ACCOUNT'
    | 'PLANNED'
    | 'REWARDS'
    | 'BURNED'
    | 'MISSING'
    | 'MINTED'
    | 'MELTED'
  readonly id?: string
  readonly amount: bigint
  /** For an input: the amount at its creation, if the amount has changed since then. */
  readonly written?: bigint
}

export interface Lane {
  readonly left: readonly LaneEnd[]
  readonly right: readonly LaneEnd[]
}

interface ManaOutput {
  readonly outputId: string
  readonly owner: { readonly bech32: string }
  readonly mana: string | null
}

interface ManaTerms {
  readonly inputs: readonly ManaOutput[]
  readonly outputs: readonly ManaOutput[]
  readonly allotments: readonly { readonly accountId: string; readonly mana: string }[]
  /** The mana as the ledger rules computed it. */
  readonly mana: {
    readonly byInput: readonly string[]
    readonly rewards: string
    readonly inputs: string
    readonly outputs: string
  }
}

/** The lane of the stored and potential mana of the inputs; `undefined` if there is no mana. */
export function manaLane({ inputs, outputs, allotments, mana }: ManaTerms): Lane | undefined {
  const sums = { in: BigInt(mana.inputs), out: BigInt(mana.outputs) }
  if (sums.in === 0n && sums.out === 0n) return undefined
  const allotted = allotments.reduce((sum, one) => sum + BigInt(one.mana), 0n)
  // A failed transaction created no outputs.
  const created: readonly LaneEnd[] =
    outputs.length > 0
      ? outputs.map(({ outputId, owner, mana: stored }) => ({
          ...{ key: outputId, kind: 'OUTPUT', id: owner.bech32, amount: BigInt(stored ?? 0) },
        }))
      : [{ key: 'planned', kind: 'PLANNED', amount: sums.out - allotted }]
  return withDifference(
    {
      left: [
        ...inputs.map(({ outputId, owner, mana: stored }, n): LaneEnd => {
          const end = { key: outputId, kind: 'OUTPUT', id: owner.bech32 } as const
          return { ...end, amount: BigInt(mana.byInput[n] ?? 0), written: BigInt(stored ?? 0) }
        }),
        { key: 'rewards', kind: 'REWARDS', amount: BigInt(mana.rewards) },
      ],
      right: [
        ...created,
        ...allotments.map(({ accountId, mana: given }): LaneEnd => {
          return { key: accountId, kind: 'ACCOUNT', id: accountId, amount: BigInt(given) }
        }),
      ],
    },
    { more: 'BURNED', less: 'MISSING' },
  )
}

interface TokenOutput {
  readonly outputId: string
  readonly owner: { readonly bech32: string }
  readonly content: object
}

/** The lane of each native token in inputs or outputs, by token id. */
export function tokenLanes(terms: {
  readonly inputs: readonly TokenOutput[]
  readonly outputs: readonly TokenOutput[]
}): ReadonlyMap<string, Lane> {
  const endsOf = (outputs: readonly TokenOutput[]) =>
    outputs.flatMap(({ outputId: key, owner, content }) => {
      const held = tokenIn(content)
      if (held === undefined) return []
      const end = { key, kind: 'OUTPUT', id: owner.bech32, amount: held.amount } as const
      return [{ token: held.id, end }]
    })
  const [left, right] = [endsOf(terms.inputs), endsOf(terms.outputs)]
  const tokens = new Set([...left, ...right].map(({ token }) => token))
  const of = (ends: typeof left, token: string): LaneEnd[] =>
    ends.filter((one) => one.token === token).map(({ end }) => end)
  return new Map(
    [...tokens].map((token) => [
      token,
      withDifference(
        { left: of(left, token), right: of(right, token) },
        { more: 'MELTED', less: 'MINTED' },
      ),
    ]),
  )
}

function tokenIn(content: object): { readonly id: string; readonly amount: bigint } | undefined {
  const features = 'features' in content && Array.isArray(content.features) ? content.features : []
  for (const { tokenId: id, amount } of features) {
    if (id !== undefined && amount !== undefined) return { id, amount: BigInt(amount) }
  }
  return undefined
}

/** Removes ends without an amount, and adds an end that balances both sides. */
function withDifference(
  { left, right }: Lane,
  { more, less }: { readonly more: LaneEnd['kind']; readonly less: LaneEnd['kind'] },
): Lane {
  const holding = (ends: readonly LaneEnd[]) => ends.filter(({ amount }) => amount > 0n)
  const sum = (ends: readonly LaneEnd[]) => ends.reduce((all, { amount }) => all + amount, 0n)
  const difference = sum(left) - sum(right)
  const rest = (kind: LaneEnd['kind'], amount: bigint): LaneEnd => ({ key: kind, kind, amount })
  return {
    left: [...holding(left), ...(difference < 0n ? [rest(less, -difference)] : [])],
    right: [...holding(right), ...(difference > 0n ? [rest(more, difference)] : [])],
  }
}
