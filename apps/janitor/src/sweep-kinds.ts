/** The sweeps of a janitor: those of `MooringModule`, and `leases` of the containers. */
export const SWEEP_KINDS = ['orphans', 'retention', 'expiry', 'artifacts', 'leases', 'repair'] as const;
