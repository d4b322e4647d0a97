/* Runs a quantized network from C: no library but the C compiler's, no memory but what stands here.
 * `make c-example` in the root of the repository builds and runs it. */
#include <stdio.h>
#include <string.h>

#include "digits.h" /* written by Zeropoint, beside digits.o */
#include "images.h"

/* The network's memory. Alignment is a compiler's own matter in C99; this is how gcc and clang say it. */
static unsigned char arena[DIGITS_ARENA_BYTES] __attribute__((aligned(DIGITS_ARENA_ALIGNMENT)));

static int best(const int8_t *scores)
{
    int digit, found = 0;
    for (digit = 1; digit < 10; digit++)
        if (scores[digit] > scores[found])
            found = digit;
    return found;
}

int main(void)
{
    digits_model model;
    int8_t scores[DIGITS_OUTPUT_STATEFULPARTITIONEDCALL_1_0_ELEMENTS];
    const digits_tensor *output = &digits_output_tensors[0];
    int i, right = 0, equal = 0;

    int error = digits_init(&model, arena, sizeof arena);
    if (error) {
        printf("%s\n", digits_error_text(error));
        return 1;
    }
    for (i = 0; i < IMAGES; i++) {
        digits_inputs inputs;
        digits_outputs outputs;
        inputs.serving_default_image_0 = images[i];
        outputs.StatefulPartitionedCall_1_0 = scores;
        error = digits_run(&model, &inputs, &outputs);
        if (error) {
            printf("%s\n", digits_error_text(error));
            return 1;
        }
        right += best(scores) == labels[i];
        equal += !memcmp(scores, expected[i], sizeof scores);
    }
    printf("the last image is a %d with probability %.3f\n", best(scores),
           output->scale[0] * (scores[best(scores)] - output->zero_point[0]));
    printf("%d images: %d recognized, %d with the bits of the Python API\n", IMAGES, right, equal);
    return equal != IMAGES;
}
