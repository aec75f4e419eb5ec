import type { OutputPageData } from '../../../generated/explorer/output.ts'
import { grouped } from '../../format.ts'
import { frame, slotAt } from '../../network.ts'
import { texts } from '../../texts.ts'
import { Amount } from '../values/amount.tsx'
import { Id } from '../values/id.tsx'
import { Slot } from '../values/moments.tsx'
import { now } from '../values/time.tsx'
import { type Spender as SpenderKind, spansOf } from './spans.ts'

/** The unlock conditions of an output as sentences, and the addresses that can spend it over time as a time line. */

type Output = NonNullable<OutputPageData['output']>
type Condition = Output['content']['unlockConditions'][number]

const words = texts.conditions

export function Conditions({ of: output }: { readonly of: Output }) {
  const { unlockConditions: conditions } = output.content
  return (
    <>
      <TimeLine conditions={conditions} />
      <ul class="conditions">
        {conditions.map((one) => (
          <li key={one.__typename}>
            <Sentence of={one} />
          </li>
        ))}
      </ul>
    </>
  )
}

function Sentence({ of }: { readonly of: Condition }) {
  switch (of.__typename) {
    case 'AddressUnlockCondition':
    case 'StateControllerAddressUnlockCondition':
    case 'GovernorAddressUnlockCondition':
    case 'ImmutableAccountAddressUnlockCondition':
      return (
        <>
          {words.by[of.__typename]} <Id of="address" id={of.address.bech32} />
        </>
      )
    case 'TimelockUnlockCondition':
      return (
        <>
          {words.timelock} <Slot index={of.slot - 1} />
        </>
      )
    case 'ExpirationUnlockCondition':
      return (
        <>
          {words.expiration} <Slot index={of.slot - 1} /> {words.andThen}{' '}
          <Id of="address" id={of.returnAddress.bech32} />
        </>
      )
    case 'StorageDepositReturnUnlockCondition':
      return (
        <>
          {words.deposit} <Amount value={of.amount} /> {words.backTo}{' '}
          <Id of="address" id={of.returnAddress.bech32} />
        </>
      )
  }
}

/** The periods in which each address can spend the output; shown only if the conditions depend on time. */
function TimeLine({ conditions }: { readonly conditions: readonly Condition[] }) {
  const network = frame.value
  const timelock = conditions.find((one) => one.__typename === 'TimelockUnlockCondition')
  const expiration = conditions.find((one) => one.__typename === 'ExpirationUnlockCondition')
  const owner = conditions.find((one) => 'address' in one)
  if (network === undefined || (timelock === undefined && expiration === undefined)) return null
  const slot = slotAt(now.value, network)
  const { maxCommittableAge, minCommittableAge } = network.network.parameters
  const spans = spansOf({
    timelock: timelock?.slot,
    expiration: expiration?.slot,
    ages: maxCommittableAge - minCommittableAge,
  })
  const addresses: Readonly<Record<SpenderKind, string | undefined>> = {
    NO_ONE: undefined,
    OWNER: owner?.address.bech32,
    OWNER_OLD: owner?.address.bech32,
    RETURN: expiration?.returnAddress.bech32,
  }
  const current = spans.findIndex(({ until }) => until === undefined || slot <= until)
  return (
    <ol class="time-line">
      {spans.map(({ from, until, who }, n) => (
        <li key={n} aria-current={n === current ? 'step' : undefined}>
          <Spender id={addresses[who]} />
          {who === 'OWNER_OLD' && <span class="muted">{words.oldCommitment}</span>}
          <span class="muted">
            {until === undefined
              ? `${words.from} ${grouped(from ?? 0)}`
              : `${words.until} ${grouped(until)}`}
          </span>
          {n === current && <strong>{words.now}</strong>}
        </li>
      ))}
    </ol>
  )
}

function Spender({ id }: { readonly id: string | undefined }) {
  return <span>{id === undefined ? words.noOne : <Id of="address" id={id} />}</span>
}
