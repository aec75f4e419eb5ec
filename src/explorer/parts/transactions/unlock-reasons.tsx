import type { TransactionPageData } from '../../../generated/explorer/transaction.ts'
import { shortened } from '../../format.ts'
import { detailTexts } from '../../texts-details.ts'
import { Id } from '../values/id.tsx'
import { outputIdOf } from './input-id.ts'

/** The condition under which each input can be spent, its owner, and its unlock. */

const words = detailTexts.unlocks

type Transaction = NonNullable<TransactionPageData['transaction']>
type Content = NonNullable<Transaction['content']>
type Unlock = Content['unlocks'][number]
type Input = Transaction['inputs'][number]

export function UnlockReasons({ of: { inputs, content } }: { readonly of: Transaction }) {
  if (content === null) return null
  // Inputs that do not exist are not in the list.
  const inputById = new Map(inputs.map((input) => [input.outputId, input]))
  return (
    <ol class="conditions unlock-reasons">
      {content.transaction.inputs.map((reference, n) => {
        const input = inputById.get(outputIdOf(reference))
        const unlock = content.unlocks[n]
        return (
          <li key={n}>
            {input === undefined ? words.missing : <Owner of={input} />}
            {unlock !== undefined && <> {sentenceOf(unlock)}</>}
          </li>
        )
      })}
    </ol>
  )
}

/** The condition under which the owner can spend the input, and the owner. */
function Owner({ of: { owner, content } }: { readonly of: Input }) {
  const met = content.unlockConditions.find(
    (one) =>
      ('address' in one && one.address.bech32 === owner.bech32) ||
      (one.__typename === 'ExpirationUnlockCondition' && one.returnAddress.bech32 === owner.bech32),
  )
  return (
    <>
      {words.conditions[met?.__typename ?? 'AddressUnlockCondition']}{' '}
      <Id of="address" id={owner.bech32} />:
    </>
  )
}

function sentenceOf(unlock: Unlock): string {
  switch (unlock.__typename) {
    case 'SignatureUnlock':
      return words.signed(shortened(unlock.signature.publicKey))
    case 'ReferenceUnlock':
      return words.sameKey(unlock.reference + 1)
    case 'AccountUnlock':
    case 'AnchorUnlock':
    case 'NFTUnlock':
      return words.byChain(words.chains[unlock.__typename], unlock.reference + 1)
    case 'MultiUnlock': {
      const { unlocks } = unlock
      const agreed = unlocks.filter((one) => one.__typename !== 'EmptyUnlock')
      return words.members(agreed.length, unlocks.length)
    }
    case 'EmptyUnlock':
      return ''
  }
}
