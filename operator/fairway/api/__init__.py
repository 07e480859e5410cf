"""What users write: the models behind the CRDs, job bodies, phases, refusal codes and ids."""
